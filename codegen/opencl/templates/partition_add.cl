//: PARTITION_ADD
for (uint base_of = begin; base_of < stop; base_of += LANES * AT_ONCE) {
    TOGETHER();
    tuple_t tuple_of[AT_ONCE];
    for (uint r = 0; r < AT_ONCE; r++) {
        const uint i = base_of + r * LANES + lane;
        if (i < stop) tuple_of[r] = in[i];
        else tuple_of[r].x = NOBODY;
    }
    for (uint r = 0; r < AT_ONCE; r++) {
        const tuple_t tuple = tuple_of[r];
        const uint key = tuple.x & (KEYS - 1);
        if (tuple.x == NOBODY) continue;
        PARTITION_ADD
    }
}
