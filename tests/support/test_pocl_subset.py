#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The small PoCL that the tests' kernels are compiled with (pocl_subset.py): what it leaves out, that kernels get the same machine code from it as from
the installed one, and what the tests get where it cannot be made.

usage: test_pocl_subset.py FOLDER       (the one that pocl_subset.py made)
"""
import contextlib
import io
import os
import pathlib
import struct
import sys
import tempfile

import pocl_subset

# What kernels call: numbers and vectors of 8 and 16, atomic operations, barriers.
KERNEL = '''
kernel void probe(global double *x)
{
    local uint counts[64];
    local ulong totals[4];
    counts[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&counts[popcount(get_global_id(0)) & 63], 3u);
    atomic_cmpxchg(&counts[1], 4u, clz((uint)get_global_size(0)));
    atom_add(&totals[0], mul_hi((ulong)counts[1], 0x9e3779b97f4a7c15UL));
    double8 v = fma(vload8(0, x), (double8)(2.0), vload8(1, x));
    v += convert_double8(convert_long8(floor(fabs(v))));
    float16 f = sqrt(vload16(0, (global float *)x + 64));
    vstore8(max(v, 1.0), 2, x);
    x[40] = sin(x[41]) + exp(x[42]) + fma(x[43], rint(x[44]), ldexp(x[45], 3)) + f.s3 + isnan(x[46]) + (double)totals[0];
    mem_fence(CLK_GLOBAL_MEM_FENCE);
}
'''
OTHERS = ['kernel void probe(global float *x) { float4 v = (float4)(x[0]); x[0] = dot(v, v); }',
          'kernel void probe(global float *x) { x[0] = convert_int_sat_rte(x[1]); }']
STAYS = {'float __ovld __cnfn fma(float, float, float);', 'double8 __ovld __cnfn fma(double8, double8, double8);', 'void __ovld barrier(cl_mem_fence_flags);'}
GOES = {'float4 __ovld __cnfn dot(float4, float4);', 'half __ovld __cnfn fma(half, half, half);', 'float8 __ovld __cnfn sin(float8);',
        'int __ovld __cnfn convert_int_sat_rte(float);', 'int __ovld __cnfn get_image_width(read_only image1d_t);'}
FUNCTIONS_STAY = {'_Z7_cl_fmaDv8_dS_S_', '_Z3sind', '_Z13get_global_idj', 'pocl_printf_alloc_stub'}
FUNCTIONS_GO = {'_Z7_cl_dotDv4_dS_', '_Z3sinDv8_d', '_Z23_cl_convert_int_sat_rtef', '_Z3fmaDhDhDh', 'Sleef_sind8_u10'}


def what_stays_and_goes():
    assert set(pocl_subset.declarations_kept('\n'.join([*STAYS, *GOES])).split('\n')) - {''} == STAYS
    several = 'int printf(constant const char *format,\n  ...)\n  attribute;\nfloat4 f(float4 a,\n  float4 b);\n#define X f(a, \\\n  float4)\n'
    assert pocl_subset.declarations_kept(several) == several.replace('float4 f(float4 a,\n  float4 b);\n', '')
    assert all(map(pocl_subset.is_defined, FUNCTIONS_STAY)) and not any(map(pocl_subset.is_defined, FUNCTIONS_GO))


def code_of(library):
    """The sections .text and .rodata of an ELF file."""
    content = library.read_bytes()
    start, = struct.unpack_from('<Q', content, 40)
    size, count, names = struct.unpack_from('<HHH', content, 58)
    headers = [struct.unpack_from('<IIQQQQ', content, start + i * size) for i in range(count)]
    strings = headers[names][4]
    found = {}
    for name, _, _, _, offset, length in headers:
        text = content[strings + name:content.index(b'\0', strings + name)]
        if text in (b'.text', b'.rodata'):
            found[text] = content[offset:offset + length]
    return found


def machine_code(vendors):
    with tempfile.TemporaryDirectory() as cache:
        assert pocl_subset.run_probe(vendors, cache, KERNEL) is not None
        libraries = list(pathlib.Path(cache).rglob('probe.so'))
        assert len(libraries) == 1, libraries
        return code_of(libraries[0])


def the_same_code(folder):
    small, installed = (machine_code(os.path.join(folder, name)) for name in ('vendors', 'installed'))
    assert len(small[b'.text']) > 500 and small == installed


def other_functions_are_refused(folder):
    """Not replaced by anything: a test whose kernel needs one fails."""
    with tempfile.TemporaryDirectory() as cache:
        for source in OTHERS:
            assert pocl_subset.run_probe(os.path.join(folder, 'installed'), cache, source) is not None
            assert pocl_subset.run_probe(os.path.join(folder, 'vendors'), cache, source) is None


def made_of(drivers, folder):
    """What it prints, with these drivers installed."""
    os.environ['OCL_ICD_VENDORS'], sys.argv[1:] = drivers, [folder]
    with contextlib.redirect_stdout(io.StringIO()) as said:
        pocl_subset.main()
    return said.getvalue()


def without_pocl_the_drivers_are_as_they_are():
    with tempfile.TemporaryDirectory() as box:
        drivers, folder = box + '/drivers', box + '/made'
        os.mkdir(drivers)
        pathlib.Path(drivers, 'other.icd').write_text('libother.so\n')
        for _ in range(2):                  # the second time it is told what the first one found
            said = made_of(drivers, folder)
            assert "all of PoCL's" in said and 'no PoCL among the installed drivers' in said, said
            assert os.listdir(folder + '/vendors') == ['other.icd'] and pathlib.Path(folder, 'vendors/other.icd').read_text() == 'libother.so\n'
        pathlib.Path(drivers, 'pocl.icd').write_text('libpocl-is-not-there.so\n')
        said = made_of(drivers, folder)
        assert 'libpocl-is-not-there.so' in said and sorted(os.listdir(folder + '/vendors')) == ['other.icd', 'pocl.icd'], said


def main():
    folder = sys.argv[1]
    what_stays_and_goes()
    if "all of PoCL's" in pathlib.Path(folder, 'made-of.json').read_text():
        print('SKIP: no small PoCL here (support/pocl_subset.py says why): what kernels get from it')
    else:
        the_same_code(folder)
        other_functions_are_refused(folder)
    without_pocl_the_drivers_are_as_they_are()


main()
