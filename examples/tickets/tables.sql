CREATE TABLE show (id int PRIMARY KEY, name text NOT NULL, free int NOT NULL);
CREATE TABLE ticket (id serial PRIMARY KEY, show int NOT NULL REFERENCES show, visitor text NOT NULL);
INSERT INTO show VALUES (1, 'Hamlet', 2);
