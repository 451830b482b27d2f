#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/design/join is a program: it compiles without a warning, and over random users and orders it prints and writes what Python finds.

usage: designs.py SOURCE-ROOT LIBHDST CC...
"""
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

FIRST_DAY = 20454       # of the program


def records(seed):
    draw = random.Random(seed)
    users = [(i, f'user {i}', draw.randrange(0, 5) / 16) for i in range(400)]
    orders = [(draw.randrange(0, 500), draw.randrange(FIRST_DAY - 100, FIRST_DAY + 300), draw.randrange(1, 4000) / 4) for _ in range(3000)]
    return users, orders


def expected(users, orders):
    """The highest bill, (user, due), and each user's longest pause; users without an order this year have one bill over nothing."""
    late = [o for o in orders if o[1] >= FIRST_DAY]
    bills = [(u, day, amount * (1 - discount)) for u, _, discount in users for of, day, amount in late if of == u]
    bills += [(u, 0, 0.0) for u, _, _ in users if all(o[0] != u for o in late)]
    highest = min(bills, key=lambda b: (-b[2], b[1]))
    pauses = []
    for u, _, _ in users:
        days = [b[1] for b in bills if b[0] == u]
        pauses.append(max([0] + [later - day for day, later in zip(days, days[1:])]))
    return highest, sorted(pauses)


def read_npy(path):
    data = path.read_bytes()
    begin = 10 + struct.unpack('<H', data[8:10])[0]
    return [n for (n,) in struct.iter_unpack('<i', data[begin:])]


def main(root, library, compiler):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for path in (root / 'docs/design/join').iterdir():
            shutil.copy(path, folder)
        users, orders = records(7)
        (folder / 'users.csv').write_text('id,name,discount\n' + ''.join(f'{i},{name},{discount}\n' for i, name, discount in users))
        (folder / 'orders.csv').write_text('user,day,amount\n' + ''.join(f'{u},{day},{amount}\n' for u, day, amount in orders))
        arguments = ['-std=c11', '-Wall', '-Wextra', '-Werror', f'-I{root}', 'main.c', str(library), f'-Wl,-rpath,{library.parent}', '-o', 'join']
        subprocess.run([*compiler, *arguments], cwd=folder, check=True)
        ran = subprocess.run(['./join'], cwd=folder, capture_output=True, text=True, env={**os.environ, 'HDST_CACHE_DIR': str(folder / 'cache')})
        highest, pauses = expected(users, orders)
        wanted = f'user {highest[0]} pays {highest[2]:g}\n'
        if ran.returncode or ran.stdout != wanted:
            print(f'FAIL: exit {ran.returncode}, printed {ran.stdout!r}, not {wanted!r}\n{ran.stderr}')
            return 1
        if sorted(read_npy(folder / 'pauses.npy')) != pauses:
            print('FAIL: pauses.npy has other pauses')
            return 1
    print(f'ok: {len(users)} users, {len(orders)} orders')
    return 0


if __name__ == '__main__':
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]))
