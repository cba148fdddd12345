#!/usr/bin/env python3
"""Asks a real PostgreSQL what its aggregates return, for tests/aggregates.rs; see functions.py.

Each line: name, types of direct arguments, types of the others, type of the result, result, direct
arguments, rows; the values of a row are separated by the character U+001F.
"""
import random
from functions import OIDS, TYPES, ask, cast, escape, quote

random.seed(15)
POOLS = {
    'int2': ['1', '2', '-5', '32767', '7', None],
    'int4': ['1', '2', '-5', '2147483647', '7', '100', None],
    'int8': ['1', '-2', '9223372036854775807', '5', '1000', None],
    'numeric': ['1', '1.50', '-2.25', '1000000000000.000001', '0', '3.333', 'NaN', None, '1e-10'],
    'float4': ['1', '2.5', '-0.1', '1e10', None, '3'],
    'float8': ['1', '2.5', '-0.1', '1e10', '1e200', 'NaN', 'Infinity', None, '3', '7'],
    'bool': ['t', 'f', None],
    'text': ['a', 'b', '', 'B', 'héllo', None, 'zz'],
    'bpchar': ['a', 'b ', 'a  ', 'B', None],
    'bytea': ['\\x61', '\\x', '\\xff00', None],
    'date': ['2020-01-01', '1999-12-31', 'infinity', None],
    'time': ['01:02:03', '23:59:59.5', None],
    'timestamp': ['2020-01-01 00:00:00', '1999-12-31 12:00:00', None],
    'timestamptz': ['2020-01-01 00:00:00+00', '1999-12-31 12:00:00+00', None],
    'interval': ['1 day', '2 hours', '1 mon -3 days', '00:00:01.5', None, '1 year'],
    'oid': ['1', '4294967295', None],
    'uuid': ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
    'inet': ['10.0.0.1', '192.168.0.0/16', '::1', None],
    'bit': ['1010', '0110', None],
    '_int4': ['{1,2}', '{1,3}', '{}', '{2}', None, '{{1,2},{3,4}}'],
    '_text': ['{a,b}', '{c,NULL}'],
    'json': ['{"a":1}', '[1, 2]', None],
    'jsonb': ['{"a": 1}', '[1, 2]', None],
}
FLOATS = ['corr', 'covar_pop', 'covar_samp', 'regr_avgx', 'regr_avgy', 'regr_count', 'regr_intercept', 'regr_r2',
          'regr_slope', 'regr_sxx', 'regr_sxy', 'regr_syy']
CASES = [('count', [], ty) for ty in ([], ['int4'], ['text'])]
CASES += [(f, [], [ty]) for f in ('sum', 'avg') for ty in ('int2', 'int4', 'int8', 'numeric', 'float4', 'float8', 'interval')]
CASES += [(f, [], [ty]) for f in ('min', 'max') for ty in ('int2', 'int4', 'int8', 'numeric', 'float4', 'float8', 'interval',
          'text', 'bpchar', 'date', 'time', 'timestamp', 'timestamptz', 'oid', 'inet', '_int4', '_text')]
CASES += [(f, [], ['bool']) for f in ('bool_and', 'bool_or', 'every')]
CASES += [(f, [], [ty]) for f in ('bit_and', 'bit_or', 'bit_xor') for ty in ('int2', 'int4', 'int8', 'bit')]
CASES += [(f, [], [ty]) for f in ('var_pop', 'var_samp', 'variance', 'stddev_pop', 'stddev_samp', 'stddev')
          for ty in ('int2', 'int4', 'int8', 'numeric', 'float4', 'float8')]
CASES += [(f, [], ['float8', 'float8']) for f in FLOATS]
CASES += [('string_agg', [], ['text', 'text']), ('string_agg', [], ['bytea', 'bytea'])]
CASES += [('array_agg', [], [ty]) for ty in ('int4', 'text', 'numeric', '_int4', '_text', 'bool', 'date')]
CASES += [(f, [], [ty]) for f in ('json_agg', 'jsonb_agg') for ty in ('int4', 'text', 'numeric', '_int4', 'bool', 'json', 'jsonb', 'float8', 'date')]
CASES += [(f, [], [k, v]) for f in ('json_object_agg', 'jsonb_object_agg') for k, v in (('text', 'int4'), ('int4', 'text'), ('text', '_int4'), ('bool', 'bool'), ('_int4', 'int4'), ('date', 'numeric'))]
CASES += [('mode', [], [ty]) for ty in ('int4', 'text', 'numeric')]
CASES += [(f, ['float8'], [ty]) for f in ('percentile_disc',) for ty in ('int4', 'text', 'date')]
CASES += [(f, ['_float8'], [ty]) for f in ('percentile_disc',) for ty in ('int4', 'text')]
CASES += [('percentile_cont', [d], [ty]) for d in ('float8', '_float8') for ty in ('float8', 'interval')]
DIRECT = {'float8': ['0', '0.5', '1', '0.25', '0.9', None, '1.5', '-0.1'], '_float8': ['{0,0.5,1}', '{0.3,NULL}', '{}', '{{0.1},{0.9}}', None, '{2}']}

def call(name, direct_types, direct, types, rows):
    names = ['a', 'b'][:len(types)]
    columns = ', '.join(names) if types else '*'
    aggregate = f'"{name}"({columns})'
    if direct_types or name == 'mode':
        aggregate = f'"{name}"({", ".join(map(cast, direct, direct_types))}) WITHIN GROUP (ORDER BY a)'
    values = ', '.join('(' + ', '.join(map(cast, row, types)) + ')' for row in rows) if types else ', '.join(['(1)'] * len(rows))
    if not rows:
        source = 'SELECT ' + ', '.join(f'{cast(None, ty)} AS {n}' for ty, n in zip(types, names)) + ' LIMIT 0' if types else 'SELECT 1 LIMIT 0'
        return aggregate, f'({source}) t'
    return aggregate, f'(VALUES {values}) t({", ".join(names) or "a"})'

def main():
    cases = []
    for name, direct_types, types in CASES:
        for size in (0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 12):
            rows = [[random.choice(POOLS[ty]) for ty in types] for _ in range(size)]
            direct = [random.choice(DIRECT[ty]) for ty in direct_types]
            cases.append((name, direct_types, direct, types, rows))
    queries, kinds = [], []
    for case in cases:
        aggregate, source = call(*case)
        queries.append(f"SELECT CASE WHEN r IS NULL THEN NULL ELSE format('%s', r) END FROM (SELECT {aggregate} r FROM {source}) s")
        aggregate, source = call(case[0], case[1], [None] * len(case[2]), case[3], [])
        kinds.append(f'SELECT pg_typeof({aggregate})::oid FROM {source}')
    for (name, direct_types, direct, types, rows), answer, kind in zip(cases, ask(queries), ask(kinds)):
        fields = [name, ' '.join(OIDS[t] for t in direct_types), ' '.join(OIDS[t] for t in types), kind[1:], answer,
                  '\x1f'.join(map(escape, direct))]
        print('\t'.join(fields + ['\x1f'.join(map(escape, row)) for row in rows]))

if __name__ == '__main__':
    main()
