// Booking seats of a hall, with node-postgres: look how many are taken, then take one more.
'use strict';

const SEATS = 2;

async function book(pool, show, visitor) {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const lock = process.env.TICKETS_GUARD === 'lock' ? ' FOR UPDATE' : '';
    await client.query(`SELECT id FROM show WHERE id = $1${lock}`, [show]);
    const taken = await client.query('SELECT count(*) FROM ticket WHERE show = $1', [show]);
    if (Number(taken.rows[0].count) >= SEATS) {
      await client.query('ROLLBACK');
      return false;
    }
    await client.query('INSERT INTO ticket (show, visitor) VALUES ($1, $2)', [show, visitor]);
    await client.query('COMMIT');
    return true;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

module.exports = { SEATS, book };
