#!/usr/bin/env python3
"""A recording as `seriatim audit` makes it, as long as you like, without a database: transactions
one after the other, in rounds of 2,000, each with registers of its own.

    bench/recording.py 10000000 > ten-million.jsonl
"""
import random
import sys

ROUND = 2000
SESSIONS = 16
KEYS = 10


def statement(text, first, rows):
    shown = '"done":""' if rows is None else f'"count":1,"rows":[["{rows}"]]'
    return f'{{{shown},"first":{first},"ops":1,"sql":"{text}"}}'


def main():
    dice = random.Random(1)
    write = sys.stdout.write
    write('{"database":"none","isolation":"SERIALIZABLE","seriatim":1,"source":"audit"}\n')
    clock = 1
    for number in range(int(sys.argv[1])):
        name, place = divmod(number, ROUND)
        if place == 0:
            values = {name * 20 + key: 0 for key in range(KEYS)}
            made = ",".join(
                f'["w","{key} exists","true"],["w",{key},0]' for key in values
            )
            write(f'{{"begin":0,"end":0,"ops":[{made}],"session":"{name}.set-up",'
                  '"statements":[],"status":"committed"}\n')
        session = number % SESSIONS
        begin, ops, statements = clock, [], []
        for step in range(dice.randint(2, 5)):
            key = name * 20 + dice.randrange(KEYS)
            if dice.random() < 0.5:
                ops.append(f'["r",{key},{values[key]}]')
                text = f"SELECT value FROM register WHERE id = {key}"
                statements.append(statement(text, step, values[key]))
            else:
                values[key] = value = (session + 1 << 40) + number * 8 + step
                ops.append(f'["w",{key},{value}]')
                text = f"UPDATE register SET value = {value} WHERE id = {key}"
                statements.append(statement(text, step, None))
        clock += 500_000
        write(f'{{"begin":{begin},"end":{clock - 1},"ops":[{",".join(ops)}],'
              f'"session":"{name}.{session}","statements":[{",".join(statements)}],'
              '"status":"committed"}\n')


main()
