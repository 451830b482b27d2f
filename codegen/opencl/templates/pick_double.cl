PICK(double)

