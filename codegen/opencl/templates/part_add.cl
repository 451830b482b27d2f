//: PART_ADD
for (uint base_of = begin; base_of < stop; base_of += LANES * AT_ONCE) {
    TOGETHER();
    pair_t pair_of[AT_ONCE];
    for (uint r = 0; r < AT_ONCE; r++) {
        const uint i = base_of + r * LANES + lane;
        if (i < stop) pair_of[r] = in[i];
        else pair_of[r].x = NOBODY;
    }
    for (uint r = 0; r < AT_ONCE; r++) {
        const pair_t pair = pair_of[r];
        const uint key = pair.x & (KEYS - 1);
        if (pair.x == NOBODY) continue;
        PART_ADD
    }
}
