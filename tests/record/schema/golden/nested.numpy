{'track': {'names': ['id', 'places', 'name'], 'formats': ['<u4', ({'names': ['x', 'tag', 'weight'], 'formats': [('<f8', (2,)), '<u1', '<f8'], 'offsets': [0, 16, 20], 'itemsize': 28}, (3,)), {'names': ['offset', 'length'], 'formats': ['<u8', '<u4'], 'offsets': [0, 8], 'itemsize': 16}], 'offsets': [0, 4, 88], 'itemsize': 104},
 'place': {'names': ['x', 'tag', 'weight'], 'formats': [('<f8', (2,)), '<u1', '<f8'], 'offsets': [0, 16, 20], 'itemsize': 28},
 'sample': {'names': ['at', 'good'], 'formats': [({'names': ['x', 'tag', 'weight'], 'formats': [('<f8', (2,)), '<u1', '<f8'], 'offsets': [0, 16, 20], 'itemsize': 28}, (2,)), '?'], 'offsets': [0, 56], 'itemsize': 60},
 'pixel': {'names': ['rgb', 'depth'], 'formats': [('<u1', (3,)), ('<f4', (2, 2,))], 'offsets': [0, 4], 'itemsize': 32}}
