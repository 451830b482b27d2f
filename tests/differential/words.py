#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The words that generated OpenCL C is made of, as a C array for the generator, which names things so: identifiers of the
templates and of the printers' and passes' texts, and OpenCL's own built-ins that a program may use as names.

usage: words.py OUTPUT DEPFILE CODEGEN-FOLDER
"""
import pathlib
import re
import sys

BUILT_INS = '''
barrier mem_fence clamp step smoothstep mix mad mad24 mul24 mul_hi rotate upsample popcount clz select shuffle
shuffle2 cross length distance normalize sign radians degrees get_global_id get_local_id get_group_id get_global_size
get_local_size get_num_groups get_work_dim vload4 vstore4 prefetch printf atomic_add atomic_inc atom_add atom_max
as_uchar as_float4 convert_int convert_uchar_sat half_sqrt native_exp native_recip isequal isless isfinite isnormal
signbit any all bitselect fract frexp ldexp modf nextafter remquo lgamma tgamma maxmag minmag nan pown powr rootn
sincos work_group_barrier sub_group_reduce_add async_work_group_copy wait_group_events read_imagef write_imagef uchar
ushort uint ulong uchar4 float4 double2 half quad kernel global local constant generic read_only write_only read_write
sampler_t event_t image2d_t pipe CLK_LOCAL_MEM_FENCE CL_VERSION_1_2 INT_MAX UINT_MAX LONG_MAX MAXFLOAT HUGE_VALF
FP_CONTRACT OPENCL main end first next this class new template private public
'''

ROOMS = ('accum', 'codegen', 'shuffle')                                    # whose templates are read
TEXTS = ('codegen/lower', 'codegen/pass', 'codegen/opencl')                # whose strings name what is generated
LEAST_FILES = 100


def words_of(path):
    text = path.read_text()
    if path.suffix == '.cl':
        return re.findall(r'\b[A-Za-z_]\w*', re.sub(r'//[^\n]*', '', text))
    strings = re.findall(r'"((?:[^"\\\n]|\\.)*)"', re.sub(r'//[^\n]*', '', text))       # of a printer: what stands in its texts, without formats
    pieces = [re.sub(r'\\.', ' ', re.sub(r'%%|%-?[0-9.*]*(?:l|ll|z)?[a-zA-Z]', ' ', s)) for s in strings]
    return [w for piece in pieces for w in re.findall(r'\b[A-Za-z_]\w*', piece)]


def main():
    output, depfile, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    files = sorted(p for room in ROOMS for p in (folder / room).rglob('*.cl')) + sorted(p for room in TEXTS for p in (folder / room).glob('*.c'))
    if len(files) < LEAST_FILES:
        sys.exit(f'{folder}: only {len(files)} files with generated texts')
    words = set(BUILT_INS.split())
    for path in files:
        words.update(w for w in words_of(path) if len(w) < 40)
    with open(output, 'w') as out:
        out.write('// Made by words.py: the words of generated texts.\nstatic const char *const diff_words[] = {\n')
        out.writelines(f'    "{w}",\n' for w in sorted(words))
        out.write('};\n')
    pathlib.Path(depfile).write_text(f'{output}: {" ".join(str(p) for p in files)}\n')


main()
