// Included by levels.cl where no sums in double stand in for a third level.
//: REAL float | double
//: BIT_TEST_FORM 0 | 1
inline bool OF(on_double_path)(const LEVELS *s) { return false; }
#if BIT_TEST_FORM
inline void OF(double_path_start)(LEVELS *s) { s->exceptions = s->pause = 0; }
#else
inline void OF(double_path_start)(LEVELS *s) {}
#endif
inline bool OF(double_path_holds)(const LEVELS *s, int first) { return false; }
inline void OF(double_path_empty)(LEVELS *s) {}
inline void OF(double_path_publish)(LEVELS *s, volatile __global long *cell, uint last, int lowest) {}
inline bool OF(double_path_exceptions)(LEVELS *s, const REAL *values, uint records, volatile __global long *cell, uint last, int lowest) { return false; }
inline bool OF(double_path_choose)(LEVELS *s, int first, int least) { return false; }
