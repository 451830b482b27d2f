{'byte': {'names': ['value'], 'formats': ['<u1'], 'offsets': [0], 'itemsize': 1}}
