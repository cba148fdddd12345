// Booking seats of a hall, with node-postgres: look how many are taken, then take one more.
'use strict';

const SEATS = 2;
const GUARD = process.env.TICKETS_GUARD;
const TRIES = 20;
// What a database refuses that cannot put transactions into an order.
const REFUSALS = ['40001', '40P01'];

/** Runs `work` in a transaction; it books if `work` says so. */
async function transaction(pool, work) {
  const client = await pool.connect();
  try {
    await client.query(GUARD === 'serializable' ? 'BEGIN ISOLATION LEVEL SERIALIZABLE' : 'BEGIN');
    const booked = await work(client);
    await client.query(booked ? 'COMMIT' : 'ROLLBACK');
    return booked;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

/** Tries again what the database refuses. */
async function retried(work) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === TRIES || !REFUSALS.includes(error.code)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 2 * attempt));
    }
  }
}

async function take(client, show, visitor) {
  if (GUARD === 'atomic') {
    const one = 'UPDATE show SET free = free - 1 WHERE id = $1 AND free > 0';
    if ((await client.query(one, [show])).rowCount === 0) return false;
  } else {
    const lock = GUARD === 'lock' ? ' FOR UPDATE' : '';
    await client.query(`SELECT id FROM show WHERE id = $1${lock}`, [show]);
    const taken = await client.query('SELECT count(*) FROM ticket WHERE show = $1', [show]);
    if (Number(taken.rows[0].count) >= SEATS) return false;
  }
  await client.query('INSERT INTO ticket (show, visitor) VALUES ($1, $2)', [show, visitor]);
  return true;
}

function book(pool, show, visitor) {
  const once = () => transaction(pool, (client) => take(client, show, visitor));
  return GUARD === 'serializable' ? retried(once) : once();
}

module.exports = { SEATS, book };
