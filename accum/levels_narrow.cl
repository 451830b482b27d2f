inline bool is_broad_@real@(const @real@_levels *s) { return false; }
inline void broad_start_@real@(@real@_levels *s) { @narrow_start@ }
inline bool broad_holds_@real@(const @real@_levels *s, int first) { return false; }
inline void broad_empty_@real@(@real@_levels *s) {}
inline void broad_publish_@real@(@real@_levels *s, volatile __global long *cell, uint last, int lowest) {}
inline bool broad_settle_@real@(@real@_levels *s, const @real@ *values, uint records, volatile __global long *cell, uint last, int lowest) { return false; }
inline bool broad_choose_@real@(@real@_levels *s, int first, int least) { return false; }
