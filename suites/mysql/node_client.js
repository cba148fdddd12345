// mysql2: queries, prepared statements, transactions, errors.
'use strict';
const assert = require('node:assert');
const mysql = require('mysql2/promise');

async function main() {
  const connection = await mysql.createConnection({
    host: process.env.MYSQL_HOST, port: Number(process.env.MYSQL_TCP_PORT),
    user: process.env.MYSQL_USER || 'root', password: process.env.MYSQL_PWD || '',
    database: process.env.MYSQL_DATABASE,
  });
  await connection.query('DROP TABLE IF EXISTS ticket');
  await connection.query(
    'CREATE TABLE ticket (id INT AUTO_INCREMENT PRIMARY KEY, seat VARCHAR(5) UNIQUE, price DECIMAL(6,2),'
    + ' sold TINYINT(1) NOT NULL DEFAULT 0, at DATETIME(3))');
  const [made] = await connection.execute(
    'INSERT INTO ticket (seat, price, at) VALUES (?, ?, ?)', ['A1', 12.5, new Date(0)]);
  assert.strictEqual(made.insertId, 1);
  assert.strictEqual(made.affectedRows, 1);
  const [rows] = await connection.execute('SELECT id, seat, price, sold FROM ticket WHERE id = ?', [1]);
  assert.deepStrictEqual({ ...rows[0] }, { id: 1, seat: 'A1', price: '12.50', sold: 0 });
  await connection.beginTransaction();
  await connection.query('UPDATE ticket SET sold = 1 WHERE id = 1');
  await connection.rollback();
  const [[{ sold }]] = await connection.query('SELECT sold FROM ticket');
  assert.strictEqual(sold, 0);
  await assert.rejects(connection.query("INSERT INTO ticket (seat) VALUES ('A1')"),
    (error) => error.code === 'ER_DUP_ENTRY' && error.errno === 1062 && error.sqlState === '23000');
  const [none] = await connection.execute('SELECT * FROM ticket WHERE seat = ?', [null]);
  assert.strictEqual(none.length, 0);
  await connection.end();
  console.log('mysql2: ok');
}

main().catch((error) => { console.error(error); process.exit(1); });
