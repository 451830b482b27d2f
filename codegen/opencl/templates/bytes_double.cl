BY_BYTES(double, 8)

