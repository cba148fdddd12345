#!/bin/sh
# Gives each target a few small valid inputs to start from.
set -eu
cd "$(dirname "$0")"
seed() {
  mkdir -p "corpus/$1"
  printf "$3" > "corpus/$1/seed-$2"
  mkdir -p corpus/detect corpus/compressed
  printf "$3" > "corpus/detect/seed-$1-$2"
  printf "$3" > "corpus/compressed/seed-$1-$2"
}
seed plume 1 'w(1,0,0,0)\nw(2,0,0,0)\nr(1,0,1,1)\nw(1,5,1,1)\nr(1,5,2,-1)\nw(-3,18446744073709551615,2,-1)\n'
seed plume 2 '# note\nr( 7 , 8 , 9 , 10 ) // x\r\nw(4000000000000,1,9,11)\n'
seed awdit 1 'w 0 0\n-----\nr 0 0\n=====\nw 0 -1\n'
seed dbcop_hist 1 '// c\n[x:=1 y:=2] [y==2]!\n---\n[] [x==? y==-1]\n'
seed dbcop_json 1 '{"params":{},"info":"","data":[[{"events":[["w",0,1],{"Read":{"variable":0,"version":null}}],"committed":true}],[]]}'
seed elle_edn 1 '{:index 0, :type :invoke, :process 0, :time 1, :f :txn, :value [[:append 5 1] [:r :k nil]]}\n{:index 1, :type :ok, :process 0, :time 2, :f :txn, :value [[:append 5 1] [:r :k [1 "a"]]]}\n'
seed elle_edn 2 '[#jepsen.history.Op{:type :info, :process 3, :value [[:w "x" 1.5M]]} ; c\n {:type :fail :process :nemesis #{1} (2/3 \\\\a)}]'
seed elle_edn 3 '#_{:a #_ #_ b c}\n^{:line 1} #:jepsen{:type :ok, :process 0x1F, :f :txn, :time ##Inf, :re #"a\\"b", :value #v ([:w 017 2r101] #_[:w 1 2])}\n#inst "1985" {:type :fail, :process \\newline, :value [[:r 1/2 ##NaN] [:w \\u0041 36rZ]]}'
seed elle_edn 4 '{:type :invoke, :process 0, :f :read, :value [7 nil]}\n{:type :ok, :process 0, :f :read, :value [7 3]}\n{:type :invoke, :process 1, :f :cas, :value #jepsen.independent/tuple [7 [3 4]]}\n{:type :info, :process 1, :f :cas, :value nil}\n{:type :invoke, :process 2, :f :write, :value [7 3]}\n{:type :fail, :process 2, :f :write, :value [7 3]}'
seed elle_edn 5 '{:type :ok, :process 0, :f :transfer, :value {:from 0, :to 1}}\n{:type :ok, :process :a, :f :read, :value #{1 2}}'
seed elle_json 2 '{"type":"invoke","process":"0","f":"cas","value":[1,2]}\n{"type":"ok","process":0,"f":"cas","value":[1,2]}\n{"type":"info","process":"nemesis","f":"kill"}'
seed elle_json 1 '[{"type":"ok","process":1,"f":"txn","value":[["append",5,1],["r",5,[1]]]},{"type":"info","process":1,"value":null}]'
seed isopredict 1 'READ KEY[x] Txn(1, 0) From(2, 0)\nWRITE KEY[7] Txn(2, 0)\nINSERT[k] to Set[s] Txn(0, 0)\nCONTAINS[k] in Set[s] From(2, 0) Txn(1, 1)\n'
seed viper 1 '{"isInitial":true,"value":[["w",1,2,true]]}\n{"value": [["r", 1, -5, false], ["d", 1, 0, 5, false, true], ["range", 1, "nil", [{"id":2,"val":9}], []]]}\n'
seed jsonl 3 '{"seriatim":1,"groups":{"g":["x","y","z",4]}}\n{"session":1,"ops":[["w","x",1],["w","y",2]]}\n{"session":2,"statements":[{"sql":"q","params":["1",null],"rows":[["2"]],"count":3,"first":0,"ops":2},{"sql":"d","done":"UPDATE 1"}],"ops":[["r","x",1],["scan","g",{"members":[[0,2]],"seen":[0],"unchanged":[1]}],["w",4,1]]}\n'
seed jsonl 2 '{"seriatim":1,"unknown_content":3}\n{"session":1,"ops":[["w","x",1],["r","x",9],["r","l",[1]]]}\n'
seed jsonl 1 '{"seriatim":1,"initial":{"x":0},"source":"s"}\n{"session":"s1","txn":"t7","status":"unknown","begin":1,"end":2,"level":"si","ops":[["w","x",1],["r","y",null],["append","l",3],["r","l",[1,3]]]}\n'
seed cobra 1 'S\0\0\0\0\0\0\0\001W\0\0\0\0\0\0\0\144\0\0\0\0\0\0\0\007\0\0\0\0\0\0\0\005R\0\0\0\0\276\276\353\356\0\0\0\0\276\276\353\356\0\0\0\0\0\0\0\010\0\0\0\0\0\0\0\0C\0\0\0\0\0\0\0\001'
seed dbcop_bincode 1 '\003\0\0\0\0\0\0\0\001\0\0\0\0\0\0\0\002\0\0\0\0\0\0\0\002\0\0\0\0\0\0\0\002\0\0\0\0\0\0\0\002\0\0\0\0\0\0\0PG\001\0\0\0\0\0\0\0a\001\0\0\0\0\0\0\0b\001\0\0\0\0\0\0\0\001\0\0\0\0\0\0\0\001\0\0\0\0\0\0\0\001\005\0\0\0\0\0\0\0\007\0\0\0\0\0\0\0\001\001'
seed certificate 1 '{"seriatim_certificate":2,"input":"h","fingerprint":"0123456789abcdef","sessions":2,"transactions":2,"operations":4,"levels":["ci","si","ser"]}\n{"level":"ci","verdict":"holds"}\n{"level":"si","verdict":"holds","points":[["b",0],["b",1],["c",0],["c",1]]}\n{"level":"ser","verdict":"violated","kind":"write-skew","operations":[0,1,2,3]}\n'
seed certificate 2 '{"seriatim_certificate":2,"input":"h","fingerprint":"0123456789abcdef","sessions":2,"transactions":2,"operations":4,"levels":["rc","sser"]}\n{"level":"rc","verdict":"holds","order":[0,1,2,3],"sources":[[2,0],[3,null]]}\n{"level":"sser","verdict":"violated","operations":[0,1,2]}\n'
seed certificate 3 '{"seriatim_certificate":2,"input":"h","fingerprint":"0123456789abcdef","sessions":2,"transactions":2,"operations":4,"levels":["cc","pc"]}\n{"level":"cc","verdict":"holds","order":[0,1,2]}\n{"level":"pc","verdict":"undecided"}\n'
mkdir -p corpus/mysql
printf '\001\011\000\000\000\003SELECT 1\001\000\000\000\016\013\000\000\000\026SELECT ? +1' > corpus/mysql/seed-queries
printf '\000\040\000\000\001\010\202\000\000' > corpus/mysql/seed-greeting
mkdir -p corpus/postgres
printf '\001Q\000\000\000\015SELECT 1\000P\000\000\000\027s\000SELECT $1::int\000\000\000B\000\000\000\022\000s\000\000\000\000\001\000\000\000\0017\000\000D\000\000\000\006P\000E\000\000\000\011\000\000\000\000\001S\000\000\000\004' > corpus/postgres/seed-queries
printf '\000\000\000\000\010\004\322\026/\000\000\000\027\000\003\000\000user\000postgres\000\000' > corpus/postgres/seed-startup
mkdir -p corpus/template
cat > corpus/template/seed-withdraw <<'END'
-- transaction withdraw weight 3
SELECT value FROM {register}
  WHERE id = {a} FOR UPDATE;                             -- reads a
UPDATE {register} SET value = {new} WHERE id = {a};      -- writes a
-- transaction lists
SELECT value FROM {list} WHERE id = {b};                 -- reads list b
UPDATE {list} SET value = CONCAT(value, ',{new}') WHERE id = {b};  -- appends b
END
mkdir -p corpus/program
for program in ../examples/programs/*.tx; do cp "$program" corpus/program/; done
mkdir -p corpus/replay
cat > corpus/replay/seed-prediction <<'END'
{"level":"cc","observed":{"application":{"app":"cart","seed":1,"sessions":null,"transactions":null}},"predictions":[{"sessions":[{"session":"0"},{"session":"1"}],"transactions":[{"session":0,"index":0,"whole":true,"needed":true,"aborted":false,"events":[{"read":"cart","from":null},{"write":"cart"}]},{"session":1,"index":0,"whole":false,"needed":true,"aborted":false,"events":[{"read":"cart","from":{"session":0,"index":0}}]}]}]}
END
cat > corpus/replay/seed-benchmark <<'END'
{"level":"rc","observed":{"application":{"app":"smallbank","seed":7,"sessions":2,"transactions":2}},"predictions":[{"sessions":[{"session":"1"},{"session":"0"}],"transactions":[{"session":0,"index":0,"whole":false,"needed":true,"aborted":true,"events":[]},{"session":0,"index":1,"whole":true,"needed":true,"aborted":false,"events":[]}]}]}
END
cat > corpus/replay/seed-recording <<'END'
{"app":"cart","level":"cc","interleaved":false,"turns":[0,1,0],"choices":[{"reader":{"session":0,"txn":0},"read":0,"key":"cart","writer":null,"latest":true}],"failure":null}
END
