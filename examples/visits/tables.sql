CREATE TABLE page (id int PRIMARY KEY, name varchar(40) NOT NULL, visits int NOT NULL);
INSERT INTO page VALUES (1, 'front page', 0);
