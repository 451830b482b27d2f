{'pair': {'names': ['key', 'value'], 'formats': ['<u8', '<f4'], 'offsets': [0, 8], 'itemsize': 16}}
