// Included by levels.cl where no sums in double stand in for a third level.
//: REAL float | double
//: QUICK_FORM 0 | 1
inline bool OF(is_broad)(const LEVELS *s) { return false; }
#if QUICK_FORM
inline void OF(broad_start)(LEVELS *s) { s->odd = s->pause = 0; }
#else
inline void OF(broad_start)(LEVELS *s) {}
#endif
inline bool OF(broad_holds)(const LEVELS *s, int first) { return false; }
inline void OF(broad_empty)(LEVELS *s) {}
inline void OF(broad_publish)(LEVELS *s, volatile __global long *cell, uint last, int lowest) {}
inline bool OF(broad_settle)(LEVELS *s, const REAL *values, uint records, volatile __global long *cell, uint last, int lowest) { return false; }
inline bool OF(broad_choose)(LEVELS *s, int first, int least) { return false; }
