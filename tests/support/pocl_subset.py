#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small PoCL for the tests: the installed driver, with the part of its built-in functions that hdst's kernels can call.

Before PoCL compiles a kernel it reads the bitcode of all built-in functions, 23,000 of them for every width of vector, and a header of 18,000 lines
that declares them: that is two thirds of what the tests' kernels cost. PoCL looks for both beside its own library, so a folder with a link to the
library finds a bitcode and a header without the functions of vectors, images and halves and without the conversions that name a rounding. Kernels get
the same code: the functions that stay are untouched. One that calls another function does not compile, which is a test that fails.

usage: pocl_subset.py FOLDER

It makes FOLDER/vendors, which OCL_ICD_VENDORS shall name: all installed drivers, PoCL as the small one; and FOLDER/installed, the drivers as they are.
When nothing has changed since, it only says again what it said.

It uses the LLVM that PoCL itself uses, as a library. Where something of this is not as expected, FOLDER/vendors are the installed drivers as they
are, and it prints why.
"""
import ctypes
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_void_p

# What kernels call with vectors; all else only with numbers.
OF_VECTORS = {'all', 'any', 'convert_double8', 'convert_float8', 'convert_float16', 'convert_int16', 'convert_long8', 'fabs', 'floor', 'fma', 'fmax', 'fmin',
              'max', 'min', 'rint', 'select', 'sqrt', 'vload2', 'vload4', 'vload8', 'vload16', 'vstore2', 'vstore4', 'vstore8', 'vstore16'}
# What is left out: in the header by the text of a declaration, in the bitcode by the mangled name of a function.
VECTORS_DECLARED = re.compile(r'\b(?:u?char|u?short|u?int|u?long|float|double|half)(?:2|3|4|8|16)\b|\bconvert_\w+_(?:sat|rt[ezpn])')
NEVER_DECLARED = re.compile(r'\bhalf|image')
VECTORS_DEFINED = re.compile(r'Dv\d+_|convert_\w+_(?:sat|rt[ezpn])')
NEVER_DEFINED = re.compile(r'v\d+(?:double|float|int|long)\d|Dh|image|half|U7_Atomic|Sleef_|__pocl_v_')
INTERNAL_LINKAGE, RETURN_STATUS = 8, 2      # of LLVM's C interface
PROBE = 'kernel void probe(global float *x) { x[get_global_id(0)] = sin(x[0]); }'
# Compiles a source with a kernel `probe` and runs it once on PoCL, in a process of its own: the loader reads its list of drivers once.
RUN = """
import ctypes, sys
cl, void = ctypes.CDLL('libOpenCL.so.1'), ctypes.c_void_p
for name in ('clCreateContext', 'clCreateCommandQueue', 'clCreateBuffer', 'clCreateProgramWithSource', 'clCreateKernel'):
    getattr(cl, name).restype = void
platforms, count, device, name = (void * 16)(), ctypes.c_uint(), void(), ctypes.create_string_buffer(200)
cl.clGetPlatformIDs(16, platforms, ctypes.byref(count))
for platform in map(void, platforms[:count.value]):
    cl.clGetPlatformInfo(platform, 0x902, ctypes.c_size_t(200), name, None)
    if b'Portable Computing' in name.value: break
cl.clGetDeviceIDs(platform, ctypes.c_ulong(0xffffffff), 1, ctypes.byref(device), None)
context = void(cl.clCreateContext(None, 1, ctypes.byref(device), None, None, None))
queue = void(cl.clCreateCommandQueue(context, device, ctypes.c_ulong(0), None))
source, one = ctypes.c_char_p(sys.argv[1].encode()), ctypes.c_size_t(1)
program = void(cl.clCreateProgramWithSource(context, 1, ctypes.byref(source), None, None))
if cl.clBuildProgram(program, 0, None, b'', None, None): sys.exit('no program')
kernel = void(cl.clCreateKernel(program, b'probe', None))
buffer = void(cl.clCreateBuffer(context, ctypes.c_ulong(1), ctypes.c_size_t(4096), None, None))
cl.clSetKernelArg(kernel, 0, ctypes.c_size_t(8), ctypes.byref(buffer))
if cl.clEnqueueNDRangeKernel(queue, kernel, 1, None, ctypes.byref(one), ctypes.byref(one), 0, None, None) or cl.clFinish(queue): sys.exit('not run')
"""


class Unexpected(Exception):
    pass


def vendor_files():
    """The files that name the installed drivers, where the loader looks for them."""
    place = os.environ.get('OCL_ICD_VENDORS') or '/etc/OpenCL/vendors'
    return sorted(os.path.abspath(file) for file in (glob.glob(place + '/*.icd') if os.path.isdir(place) else [place]) if os.path.exists(file))


def pocl_of(files):
    """The file that names PoCL among those of the drivers."""
    for file in files:
        with open(file) as lines:
            name = lines.read().strip()
        if 'pocl' in os.path.basename(name):
            return file, name
    raise Unexpected('no PoCL among the installed drivers')


def loaded(word):
    """The path of the loaded library whose name holds the word."""
    with open('/proc/self/maps') as maps:
        for line in maps:
            path = line.split(maxsplit=5)[-1].strip()
            if word in os.path.basename(path):
                return path
    raise Unexpected(f'PoCL does not load a {word}')


def run_probe(vendors, cache, source=PROBE):
    """What PoCL says of its doings when it compiles and runs the kernel; None: it failed."""
    environment = dict(os.environ, OCL_ICD_VENDORS=vendors, POCL_CACHE_DIR=cache, POCL_DEBUG='llvm')
    done = subprocess.run([sys.executable, '-c', RUN, source], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return None if done.returncode else done.stderr


def library_used(vendors):
    """The bitcode that PoCL reads on this processor: it says so itself."""
    with tempfile.TemporaryDirectory() as cache:
        said = re.search(r'Using (\S+\.bc) as the built-in lib', run_probe(vendors, cache) or '')
    if not said:
        raise Unexpected('PoCL does not say which file holds its built-in functions')
    return said[1]


class Bitcode:
    """A file of bitcode, by LLVM's C interface."""

    def __init__(self, llvm, path):
        self.llvm = ctypes.CDLL(llvm)
        buffer, message, self.module = c_void_p(), c_char_p(), c_void_p()
        if self.call('LLVMCreateMemoryBufferWithContentsOfFile', path.encode(), byref(buffer), byref(message)):
            raise Unexpected(f'{path}: {message.value}')
        context = c_void_p(self.call('LLVMContextCreate', result=c_void_p))
        if self.call('LLVMParseBitcodeInContext2', context, buffer, byref(self.module)):
            raise Unexpected(f'{path}: no bitcode of this LLVM')

    def call(self, name, *arguments, result=c_int):
        function = getattr(self.llvm, name)
        function.restype = result
        return function(*arguments)

    def functions(self):
        function = self.call('LLVMGetFirstFunction', self.module, result=c_void_p)
        while function:
            length = c_size_t()
            name = self.call('LLVMGetValueName2', c_void_p(function), byref(length), result=c_char_p)
            yield c_void_p(function), name.decode()
            function = self.call('LLVMGetNextFunction', c_void_p(function), result=c_void_p)

    def keep(self, wanted):
        """What the wanted functions do not need goes."""
        for function, name in self.functions():
            if not wanted(name) and not self.call('LLVMIsDeclaration', function):
                self.call('LLVMSetLinkage', function, INTERNAL_LINKAGE, result=None)
        options = c_void_p(self.call('LLVMCreatePassBuilderOptions', result=c_void_p))
        if self.call('LLVMRunPasses', self.module, b'globaldce', None, options, result=c_void_p):
            raise Unexpected('LLVM does not run globaldce')

    def write(self, path):
        message = c_char_p()
        if self.call('LLVMVerifyModule', self.module, RETURN_STATUS, byref(message)):
            raise Unexpected(f'what is left is no module: {message.value}')
        if self.call('LLVMWriteBitcodeToFile', self.module, path.encode()):
            raise Unexpected(f'{path} cannot be written')


def is_declared(declaration):
    name = re.search(r'(\w+)\(', declaration)
    return not NEVER_DECLARED.search(declaration) and (name and name[1] in OF_VECTORS or not VECTORS_DECLARED.search(declaration))


def is_defined(mangled):
    """_Z7_cl_fmaDv8_dS_S_ is fma of double8, which PoCL's headers call _cl_fma."""
    length = re.match(r'_Z(\d+)', mangled)
    name = mangled[length.end():][:int(length[1])].removeprefix('_cl_') if length else mangled
    return not NEVER_DEFINED.search(mangled) and (name in OF_VECTORS or not VECTORS_DEFINED.search(mangled))


def declarations_kept(text):
    """The header without the declarations of what is left out; everything else of it stays."""
    kept, statement = [], []
    for line in text.splitlines(keepends=True):
        if not statement and not re.match(r'\w[^;]*\(', line):
            kept.append(line)
            continue
        statement.append(line)
        if line.rstrip().endswith((';', '{', '}', '\\')) or line.startswith('#'):
            if not line.rstrip().endswith(';') or is_declared(''.join(statement)):
                kept += statement
            statement = []
    return ''.join(kept + statement)


def small_pocl(folder, files, inputs):
    """PoCL's library and what it needs in the folder, which is new; `lib` and `share` lie to each other as where it is installed. Adds the files that the
    result depends on to the inputs; returns PoCL's vendor file and the library that shall stand in it."""
    file, name = pocl_of(files)
    ctypes.CDLL(name)
    driver, llvm = loaded('libpocl.so'), loaded('libLLVM')
    used = os.path.realpath(library_used(os.path.join(folder, 'installed')))
    include = os.path.join(os.path.dirname(used), 'include')
    inputs += [driver, llvm, used, os.path.join(include, 'opencl-c.h')]
    share, libraries = os.path.join(folder, 'share/pocl'), os.path.join(folder, 'lib/of_pocl')
    os.makedirs(libraries)
    for beside in (driver, os.path.join(os.path.dirname(driver), 'pocl')):
        os.symlink(beside, os.path.join(libraries, os.path.basename(beside)))
    shutil.copytree(include, os.path.join(share, 'include'))
    header = os.path.join(share, 'include/opencl-c.h')
    with open(header) as whole:
        text = declarations_kept(whole.read())
    with open(header, 'w') as subset:
        subset.write(text)
    bitcode = Bitcode(llvm, used)
    bitcode.keep(is_defined)
    bitcode.write(os.path.join(share, os.path.basename(used)))
    return file, os.path.join(libraries, os.path.basename(driver))


def link_vendors(folder, files):
    os.makedirs(folder)
    for file in files:
        os.symlink(file, os.path.join(folder, os.path.basename(file)))


def make(folder, files, inputs):
    """All drivers, PoCL as the small one if that works. Returns what the tests use, in words."""
    installed, vendors = os.path.join(folder, 'installed'), os.path.join(folder, 'vendors')
    link_vendors(installed, files)
    link_vendors(vendors, files)
    try:
        file, driver = small_pocl(folder, files, inputs)
        named = os.path.join(vendors, os.path.basename(file))
        os.remove(named)
        with open(named, 'w') as small:
            small.write(driver + '\n')
        if not library_used(vendors).startswith(folder):
            raise Unexpected('it looks for them elsewhere')
    except (Unexpected, OSError, AttributeError) as reason:
        shutil.rmtree(vendors)
        link_vendors(vendors, files)
        return f'kernels are compiled with all of PoCL\'s built-in functions, which takes three times as long: {reason}'
    return 'kernels are compiled with the part of PoCL\'s built-in functions that they can call'


def state(inputs):
    return [[path, os.path.exists(path) and [os.stat(path).st_size, os.stat(path).st_mtime_ns]] for path in inputs]


def main():
    folder = os.path.abspath(sys.argv[1])
    inputs = [os.path.realpath(__file__)] + vendor_files()
    stamp = os.path.join(folder, 'made-of.json')
    if os.path.exists(stamp):
        with open(stamp) as file:
            made = json.load(file)
        if made['vendors'] == inputs and made['state'] == state(made['inputs']):
            print(made['said'])
            return
    vendors = list(inputs)
    shutil.rmtree(folder, ignore_errors=True)
    said = make(folder, vendors[1:], inputs)
    with open(stamp, 'w') as file:
        json.dump({'vendors': vendors, 'inputs': inputs, 'state': state(inputs), 'said': said}, file, indent=1)
    print(said)


if __name__ == '__main__':
    main()
