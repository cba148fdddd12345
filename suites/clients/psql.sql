\set VERBOSITY default
\pset null '(null)'
CREATE TYPE colour AS ENUM ('red', 'green', 'blue');
CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
CREATE TABLE shop (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name varchar(20) NOT NULL UNIQUE,
    opened timestamptz DEFAULT '2024-02-29 12:00:00+00'
);
CREATE TABLE item (
    id serial PRIMARY KEY,
    shop_id integer REFERENCES shop (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    name text,
    price numeric(8, 2) CHECK (price >= 0),
    paint colour DEFAULT 'red',
    amount positive,
    tags text[] DEFAULT '{}',
    doc jsonb,
    total numeric GENERATED ALWAYS AS (price * 2) STORED
);
CREATE INDEX item_name ON item (lower(name)) WHERE price > 1;
CREATE UNIQUE INDEX item_pair ON item (shop_id, name DESC NULLS LAST);
COMMENT ON TABLE item IS 'what is sold';
COMMENT ON COLUMN item.price IS 'in euros';
CREATE VIEW cheap AS SELECT id, name, price FROM item WHERE price < 5;
CREATE SEQUENCE numbers START 100 INCREMENT 10;
CREATE SCHEMA store;
CREATE TABLE store.hidden (a int, b int, PRIMARY KEY (b, a));
\d
\dt
\dt store.*
\di
\ds
\dv
\d shop
\d item
\d+ item
\d cheap
\d item_pair
\d numbers
\d store.hidden
\dn
\dT
\dT+ colour
\dD
\d missing
\l postgres
\du no_such_role
\df no_such_function
INSERT INTO shop (name) VALUES ('corner'), ('market') RETURNING *;
\copy item (id, name, price) FROM items.txt
\copy item (id, name, price) FROM items.csv WITH (FORMAT csv, HEADER)
SELECT id, name, price, total, paint, tags FROM item ORDER BY id;
\copy (SELECT id, name FROM item ORDER BY id) TO written.csv WITH (FORMAT csv, HEADER)
COPY item (id, name, price) TO STDOUT;
\x on
SELECT * FROM item WHERE id = 10;
\x off
SELECT * FROM cheap ORDER BY id;
\gset
SELECT count(*) AS n FROM item \gset
\echo there are :n items
SELECT name, price FROM item WHERE id = 10 \gx
SELECT 'DROP VIEW cheap' \gexec
PREPARE by_id (int) AS SELECT name FROM item WHERE id = $1;
EXECUTE by_id (10);
DEALLOCATE by_id;
BEGIN;
INSERT INTO item (id, name) VALUES (10, 'again');
SELECT 1;
ROLLBACK;
BEGIN;
SAVEPOINT a;
INSERT INTO item (id, price) VALUES (20, -1);
ROLLBACK TO a;
INSERT INTO item (id, shop_id) VALUES (21, 99);
COMMIT;
SELECT count(*) FROM item WHERE id IN (20, 21);
INSERT INTO item (amount) VALUES (0);
INSERT INTO item (paint) VALUES ('pink');
SELECT nothing FROM item;
SELECT * FROM missing;
SELECT 1 +;
SELECT 'a'::int;
\echo :LAST_ERROR_SQLSTATE
BEGIN;
DECLARE c CURSOR FOR SELECT generate_series(1, 5);
FETCH 2 FROM c;
FETCH ALL FROM c;
CLOSE c;
COMMIT;
DELETE FROM shop WHERE name = 'market';
TRUNCATE item RESTART IDENTITY;
DROP TABLE shop;
DROP TABLE shop CASCADE;
\d item
