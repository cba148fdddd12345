#!/usr/bin/env python3
"""Asks a real PostgreSQL how it reads and writes values, and what its functions of numbers, dates,
times, json, addresses and bits return, for tests/values.rs.

    PGHOST=… PGPORT=… PGUSER=… PGDATABASE=… ./values.py

writes values.tsv (settings, type, text, what the text is written as) and value_functions.tsv (as
functions.tsv, in the zone Europe/Berlin). The database should have LC_COLLATE 'C'.
"""
import functions as f
import random
from values_cases import ARGUMENTS, CASES, COUNTS, POOLS, SKIP, TEXTS, TYPES_SEEN

random.seed(16)
ZONE = "SET timezone = 'Europe/Berlin'; SET jit = off;\n"

def write(name, rows):
    with open(f'{f.HERE}/{name}.tsv', 'w') as out:
        for row in rows:
            print('\t'.join(row), file=out)

def ask(queries):
    answers = []
    for at in range(0, len(queries), 4000):
        answers += f.ask(queries[at:at + 4000])
    return answers

def values():
    cases = [(settings, ty, text) for settings, types, texts in TEXTS for ty in types for text in texts]
    queries = []
    for settings, ty, text in cases:
        sets = ''.join(f"PERFORM set_config('{s.split('=')[0]}', {f.quote(s.split('=')[1])}, true);" for s in settings.split(';') if s)
        queries.append((sets, f"SELECT format('%s', CAST({f.quote(text)} AS {ty}))"))
    f.PROLOGUE = PROLOGUE + f.PROLOGUE
    answers = f_try(queries)
    rows = []
    for (settings, ty, text), answer in zip(cases, answers):
        rows.append([settings, ty, f.escape(text), answer])
    write('values', rows)

PROLOGUE = ''

def f_try(queries):
    """Each query after its settings, which end with it."""
    script = f.PROLOGUE
    out = []
    for at in range(0, len(queries), 4000):
        part = queries[at:at + 4000]
        body = []
        for sets, q in part:
            if sets:
                inner = f"DO $do$ BEGIN {sets} END $do$;"
                body.append(f"BEGIN; {inner} SELECT pg_temp.try({f.quote(q)}); ROLLBACK;\n")
            else:
                body.append(f"SELECT pg_temp.try({f.quote(q)});\n")
        run = f.subprocess.run(['psql', '-Xq'], input=script + ''.join(body), capture_output=True, text=True, check=True)
        lines = run.stdout.split('\n')[:-1]
        assert len(lines) == len(part), (len(lines), len(part), run.stderr[:2000])
        out += lines
    return out

def query(oid, name, returns_set, types, values):
    text = f.query(name, returns_set, types, values)
    if f.oid_variadic(oid) and types[-1].startswith('_') and 'build' not in name:
        last = f.cast(values[-1], types[-1])
        text = text.replace(', ' + last, ', VARIADIC ' + last)
    return text

def combinations(types, count):
    pools = [POOLS[ty] for ty in types]
    total = 1
    for pool in pools:
        total *= len(pool)
    if total <= count:
        result = [[]]
        for pool in pools:
            result = [row + [value] for row in result for value in pool]
        return result
    seen = set()
    while len(seen) < count:
        seen.add(tuple(random.choice(pool) for pool in pools))
    return sorted(map(list, seen), key=lambda row: [value or "" for value in row])

def functions():
    rows, procs = [], {}
    for row in f.table('procs'):
        oid, name, kind, strict, returns_set, volatile, _, _, result, args = row[:10]
        types = [f.TYPES.get(a, a) for a in args.split(' ') if a]
        result = f.TYPES.get(result, result)
        procs.setdefault(name, []).append((oid, types, result, returns_set == 't'))
        ours = set(types + [result]) & TYPES_SEEN
        if kind != 'f' or not ours or not types or name in SKIP or row[15] in SKIP or oid in SKIP:
            continue
        if name.startswith(('hash', 'pg_stat', 'ts_')) or name.endswith(('_hash', '_hash_extended', 'send', 'recv', 'accum')):
            continue
        pools = ARGUMENTS.get(row[15]) or ARGUMENTS.get(name)
        if not pools and not all(ty in POOLS for ty in types):
            continue
        if result not in POOLS and result != 'float4':
            continue
        count = COUNTS.get(name, 24)
        if pools:
            saved = dict(POOLS)
            for at, pool in enumerate(pools):
                if pool is not None:
                    POOLS[f'arg{at}'] = pool
            names = [f'arg{at}' if pool is not None else ty for at, (pool, ty) in enumerate(zip(pools, types))]
            chosen = combinations(names, count)
            POOLS.clear(); POOLS.update(saved)
        else:
            chosen = combinations(types, count)
        for values in chosen:
            rows.append((oid, name, types, values, returns_set == 't', result))
    for name, types, cases in CASES:
        for values in cases:
            found = [p for p in procs[name] if matches(p[1], types)]
            assert found, (name, types)
            oid, _, result, returns_set = found[0]
            rows.append((oid, name, types, values, returns_set, result))
    f.PROLOGUE = f.PROLOGUE + ZONE
    answers = ask([query(oid, name, returns_set, types, values) for oid, name, types, values, returns_set, _ in rows])
    table = []
    for (oid, name, types, values, _, result), answer in zip(rows, answers):
        table.append([oid, name, ' '.join(f.OIDS[t] for t in types), f.OIDS[result], answer] + [f.escape(v) for v in values])
    write('value_functions', table)

def matches(declared, types):
    if declared == ['any']:
        return True
    return len(declared) == len(types) and all(d == t or d.startswith('any') for d, t in zip(declared, types))

if __name__ == '__main__':
    values()
    functions()
