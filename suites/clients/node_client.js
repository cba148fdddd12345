// node-postgres: parameters, named statements, types, transactions, errors, a pool, COPY by its
// refusal, cancelling by timeouts.
'use strict';
const assert = require('node:assert');
const fs = require('node:fs');
const { setTimeout: delay } = require('node:timers/promises');
const { Client, Pool, types } = require('pg');

const sslmode = process.env.PGSSLMODE;
// It has its own idea of sslmode: the settings are said here.
delete process.env.PGSSLMODE;
const root = process.env.PGSSLROOTCERT;
const encrypted = { rejectUnauthorized: Boolean(root), ca: root && fs.readFileSync(root, 'utf8') };
const config = { ssl: sslmode === 'disable' ? false : encrypted, connectionTimeoutMillis: 20000 };

async function fails(code, work) {
  const error = await work.then(() => null, (e) => e);
  assert.ok(error, `no error ${code}`);
  assert.strictEqual(error.code, code, error.message);
  return error;
}

async function encryption(client) {
  assert.strictEqual(Boolean(client.connection.stream.encrypted), sslmode !== 'disable');
}

const VALUES = [
  ['boolean', true, true],
  ['integer', -7, -7],
  ['bigint', '9007199254740993', '9007199254740993'],
  ['numeric', '1.10', '1.10'],
  ['double precision', 0.1, 0.1],
  ['text', "grüße 世界 ' \\", "grüße 世界 ' \\"],
  ['bytea', Buffer.from([0, 1, 255]), Buffer.from([0, 1, 255])],
  ['timestamptz', new Date('2024-02-29T12:34:56.789Z'), new Date('2024-02-29T12:34:56.789Z')],
  ['uuid', '12345678-1234-5678-1234-567812345678', '12345678-1234-5678-1234-567812345678'],
  ['json', { a: [1, null] }, { a: [1, null] }],
  ['jsonb', JSON.stringify([1, 'x']), [1, 'x']],
  ['integer[]', [1, null, 3], [1, null, 3]],
  ['text[]', ['a,b', 'quo"te', null], ['a,b', 'quo"te', null]],
  ['integer', null, null],
];

async function values(client) {
  for (const [type, value, wanted] of VALUES) {
    await client.query(`CREATE TEMP TABLE t (v ${type})`);
    await client.query('INSERT INTO t VALUES ($1)', [value]);
    const { rows } = await client.query('SELECT v FROM t');
    assert.deepStrictEqual(rows[0].v, wanted, type);
    await client.query('DROP TABLE t');
  }
  // In binary it parses integers, floats and booleans itself.
  const binary = { text: 'SELECT 7::int AS i, 0.5::float8 AS f, true AS b', binary: true };
  assert.deepStrictEqual((await client.query(binary)).rows, [{ i: 7, f: 0.5, b: true }]);
}

async function statements(client) {
  const made = await client.query(
    'CREATE TABLE item (id serial PRIMARY KEY, name text NOT NULL UNIQUE, n int CHECK (n > 0))');
  assert.strictEqual(made.command, 'CREATE');
  for (let i = 1; i <= 20; i += 1) {
    const insert = { name: 'insert', text: 'INSERT INTO item (name, n) VALUES ($1, $2) RETURNING id',
      values: [`item ${i}`, i] };
    assert.deepStrictEqual((await client.query(insert)).rows, [{ id: i }]);
  }
  const update = await client.query('UPDATE item SET n = n + $1 WHERE id <= $2', [100, 5]);
  assert.strictEqual(update.rowCount, 5);
  const read = await client.query({ text: 'SELECT id, n FROM item WHERE id = ANY($1) ORDER BY id',
    values: [[1, 20]], rowMode: 'array' });
  assert.deepStrictEqual(read.rows, [[1, 101], [20, 20]]);
  assert.deepStrictEqual(read.fields.map((f) => [f.name, f.dataTypeID]),
    [['id', types.builtins.INT4], ['n', types.builtins.INT4]]);
  // Several statements of one simple query give several results.
  const results = await client.query('SELECT 1 AS a; SELECT 2 AS b, 3 AS c; DELETE FROM item WHERE id = 20');
  assert.deepStrictEqual(results.map((r) => r.command), ['SELECT', 'SELECT', 'DELETE']);
}

async function transactions(client) {
  await client.query('BEGIN');
  await client.query("INSERT INTO item (name, n) VALUES ('kept', 1)");
  await client.query('SAVEPOINT s');
  const error = await fails('23505', client.query("INSERT INTO item (name, n) VALUES ('kept', 1)"));
  assert.strictEqual(error.constraint, 'item_name_key');
  assert.strictEqual(error.detail, 'Key (name)=(kept) already exists.');
  await fails('25P02', client.query('SELECT 1'));
  await client.query('ROLLBACK TO s');
  await client.query('COMMIT');
  assert.strictEqual((await client.query("SELECT FROM item WHERE name = 'kept'")).rowCount, 1);
  await fails('23514', client.query("INSERT INTO item (name, n) VALUES ('zero', 0)"));
  await fails('23502', client.query('INSERT INTO item (n) VALUES (1)'));
  await fails('42P01', client.query('SELECT * FROM missing'));
  await fails('22P02', client.query('SELECT $1::int', ['x']));
  assert.strictEqual((await fails('42601', client.query('SELECT 1 +'))).position, '11');
}

async function notices(client) {
  const seen = [];
  client.on('notice', (notice) => seen.push(notice.message));
  await client.query('DROP TABLE IF EXISTS missing');
  assert.deepStrictEqual(seen, ['table "missing" does not exist, skipping']);
}

async function cancelling(client) {
  await client.query("SET statement_timeout = '200ms'");
  await fails('57014', client.query('SELECT pg_sleep(60)'));
  await client.query('RESET statement_timeout');
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  let asleep = true;
  const sleeping = fails('57014', client.query('SELECT pg_sleep(60)')).finally(() => { asleep = false; });
  const other = new Client(config);
  await other.connect();
  // The statement may not have begun yet; the request is repeated until it hits.
  while (asleep) {
    await other.query('SELECT pg_cancel_backend($1)', [rows[0].pid]);
    await delay(100);
  }
  await sleeping;
  await other.end();
  assert.deepStrictEqual((await client.query('SELECT 1 AS one')).rows, [{ one: 1 }]);
}

async function pooled() {
  const pool = new Pool({ ...config, max: 4 });
  const sums = await Promise.all(Array.from({ length: 40 }, (_, i) =>
    pool.query('SELECT $1::int * 2 AS double', [i])));
  assert.deepStrictEqual(sums.map((s) => s.rows[0].double), Array.from({ length: 40 }, (_, i) => 2 * i));
  await pool.end();
}

async function main() {
  const client = new Client(config);
  await client.connect();
  for (const part of [encryption, values, statements, transactions, notices, cancelling]) {
    await part(client);
  }
  await client.end();
  await pooled();
}

main().catch((error) => { console.error(error); process.exit(1); });
