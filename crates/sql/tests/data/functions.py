#!/usr/bin/env python3
"""Asks a real PostgreSQL what its functions return, for tests/functions.rs.

    PGHOST=… PGPORT=… PGUSER=… PGDATABASE=… ./functions.py > functions.tsv

Each line: identifier of the function, its name, types of the arguments, type of the result,
arguments and result as text. A result is `=text`, `\\N` for null, `[row|row…` for a set, or
`!CODE message`. The database should have LC_COLLATE 'C' and LC_CTYPE 'C.UTF-8'.
"""
import random, subprocess, sys, os
from functions_cases import CASES, KEEP, POOLS, SKIP_BEGINNINGS, SKIP_ENDS, POLYMORPHIC, SKIP_SOURCES, SKIP_TYPES

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, '..', '..', 'data')
random.seed(15)

def table(name):
    with open(os.path.join(DATA, name + '.tsv')) as f:
        return [line.rstrip('\n').split('\t') for line in f]

TYPES = {row[0]: row[1] for row in table('types')}
OIDS = {row[1]: row[0] for row in table('types')}

def quote(text):
    return 'NULL' if text is None else "E'" + text.replace('\\', '\\\\').replace("'", "\\'").replace('\n', '\\n').replace('\t', '\\t').replace('\r', '\\r') + "'"

def sql_type(name):
    if name.startswith('_'):
        return sql_type(name[1:]) + '[]'
    return '"char"' if name == 'char' else 'pg_catalog.' + name

def cast(value, ty):
    return f'CAST({quote(value)} AS {sql_type(ty)})'

def escape(text):
    return '\\N' if text is None else text.replace('\\', '\\\\').replace('\n', '\\n').replace('\t', '\\t').replace('\r', '\\r')

PROLOGUE = r"""
\set QUIET on
\pset format unaligned
\pset tuples_only on
\pset null '\\N'
SET client_min_messages = error;
SET timezone = 'UTC'; SET extra_float_digits = 1; SET bytea_output = 'hex'; SET intervalstyle = 'postgres';
CREATE OR REPLACE FUNCTION pg_temp.try(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
  EXECUTE query INTO result;
  IF result IS NULL THEN RETURN NULL; END IF;
  RETURN '=' || replace(replace(replace(replace(result, E'\\', E'\\\\'), E'\n', E'\\n'), E'\t', E'\\t'), E'\r', E'\\r');
EXCEPTION WHEN OTHERS THEN
  RETURN '!' || SQLSTATE || ' ' || replace(replace(SQLERRM, E'\\', E'\\\\'), E'\n', E'\\n');
END $$;
"""

def ask(queries):
    script = PROLOGUE + ''.join(f"SELECT pg_temp.try({quote(q)});\n" for q in queries)
    out = subprocess.run(['psql', '-Xq'], input=script, capture_output=True, text=True, check=True)
    lines = out.stdout.split('\n')[:-1]
    assert len(lines) == len(queries), (len(lines), len(queries), out.stderr[:2000])
    return lines

def query(name, returns_set, types, args):
    call = f'pg_catalog."{name}"({", ".join(map(cast, args, types))})'
    if returns_set:
        return f"SELECT '[' || coalesce(string_agg(coalesce(format('%s', r), '<null>'), '|'), '') FROM (SELECT {call} r LIMIT 20) s"
    return f"SELECT CASE WHEN r IS NULL THEN NULL ELSE format('%s', r) END FROM (SELECT {call} r) s"

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
    return sorted(map(list, seen))

def substituted(types):
    """Concrete types for polymorphic ones, one list for each element type."""
    if not any(ty in POLYMORPHIC for ty in types):
        return [types]
    result = []
    for element in ['int4', 'text', 'numeric', 'float8', 'bool']:
        swap = {'array': '_' + element, 'element': element}
        result.append([swap[POLYMORPHIC[ty]] if ty in POLYMORPHIC else ty for ty in types])
    return result

def main():
    rows = []
    procs = {}
    for row in table('procs'):
        oid, name, kind, strict, returns_set, volatile, _, _, result, args = row[:10]
        source = row[15]
        types = [TYPES.get(oid, oid) for oid in args.split(' ') if oid]
        procs.setdefault(name, []).append((oid, types, TYPES.get(result, result), returns_set == 't'))
        if kind != 'f' or volatile == 'v' or source in SKIP_SOURCES or name in SKIP_SOURCES:
            continue
        if name not in KEEP and (name.startswith(SKIP_BEGINNINGS) or name.endswith(SKIP_ENDS)):
            continue
        if not types or any(ty in SKIP_TYPES for ty in types + [TYPES.get(result, result)]):
            continue
        for concrete in substituted(types):
            if not all(ty in POOLS for ty in concrete):
                continue
            count = 10 if concrete == types else 4
            for values in combinations(concrete, count):
                rows.append((oid, name, concrete, values, returns_set == 't', TYPES.get(result, result)))
    for name, types, cases in CASES:
        for values in cases:
            found = [p for p in procs[name] if matches(p[1], types, oid_variadic(p[0]))]
            assert found, (name, types)
            oid, _, result, returns_set = found[0]
            rows.append((oid, name, types, values, returns_set, result))
    answers = ask([query(name, returns_set, types, values) for _, name, types, values, returns_set, _ in rows])
    for (oid, name, types, values, _, result), answer in zip(rows, answers):
        result = concrete_result(result, types)
        print('\t'.join([oid, name, ' '.join(OIDS[t] for t in types), OIDS[result], ] + [answer] + [escape(v) for v in values]))

VARIADIC = {row[0] for row in table('procs') if row[10] != '0'}
def oid_variadic(oid):
    return oid in VARIADIC

def matches(declared, types, variadic):
    if variadic:
        fixed = [ty for ty in declared if ty != 'any']
        return types[:len(fixed)] == fixed
    return len(declared) == len(types) and all(d == t or d in POLYMORPHIC or d == 'any' or (d in ('anynonarray',)) for d, t in zip(declared, types))

def concrete_result(result, types):
    arrays = [t for t in types if t.startswith('_')]
    plain = [t for t in types if not t.startswith('_')]
    if result in ('anyarray', 'anycompatiblearray'):
        return arrays[0] if arrays and not (types[0] == plain[0] if plain else False) or not plain else '_' + plain[0]
    if result in ('anyelement', 'anycompatible'):
        return arrays[0][1:] if arrays else plain[0]
    return result

if __name__ == '__main__':
    main()
