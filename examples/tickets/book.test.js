'use strict';

const assert = require('node:assert');
const { after, test } = require('node:test');
const { Pool } = require('pg');
const { SEATS, book } = require('./book');

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
after(() => pool.end());

test('no more visitors than seats', async () => {
  const visitors = ['ann', 'bob', 'cid'];
  const booked = await Promise.all(visitors.map((visitor) => book(pool, 1, visitor)));
  const sold = booked.filter(Boolean).length;
  const { rows } = await pool.query('SELECT count(*) FROM ticket WHERE show = 1');
  assert.strictEqual(Number(rows[0].count), sold);
  assert.ok(sold <= SEATS, `${sold} tickets for ${SEATS} seats`);
});
