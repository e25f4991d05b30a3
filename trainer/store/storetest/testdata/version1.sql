-- The run store, version 1. docs/runs.md explains it.

-- One row a run. What the recorder counts (events, epochs, inner, bytes) and where it found what (first, last,
-- best: numbers of epochs' events; done: of the last event of all) is for quick lists; the events themselves are in the other tables.
CREATE TABLE runs (
  run        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  name       TEXT UNIQUE,
  begun      TEXT NOT NULL,
  changed    TEXT NOT NULL,
  opening    TEXT NOT NULL,             -- the run event, event 1
  config     TEXT NOT NULL,
  command    TEXT NOT NULL,
  version    TEXT NOT NULL,
  events     INTEGER NOT NULL DEFAULT 1,
  epochs     INTEGER NOT NULL DEFAULT 0,
  inner      INTEGER NOT NULL DEFAULT 0,
  bytes      INTEGER NOT NULL DEFAULT 0,
  first      INTEGER,
  last       INTEGER,
  best       INTEGER,
  done       INTEGER,
  generation INTEGER NOT NULL DEFAULT 0, -- grows when events are forgotten
  owner      TEXT,                       -- who records it; null: nobody
  host       TEXT NOT NULL,
  process    INTEGER NOT NULL,
  identity   TEXT NOT NULL,              -- tells the process from a later one of its number
  heartbeat  TEXT NOT NULL,
  claimed    INTEGER NOT NULL DEFAULT 0, -- 1: to be resumed, nothing new recorded yet
  data       ANY GENERATED ALWAYS AS (opening ->> '$.data.name') VIRTUAL,
  optimizer  ANY GENERATED ALWAYS AS (opening ->> '$.optimizer') VIRTUAL,
  seed       ANY GENERATED ALWAYS AS (opening ->> '$.seed') VIRTUAL,
  parameters ANY GENERATED ALWAYS AS (opening ->> '$.model.parameters') VIRTUAL
) STRICT;

CREATE TABLE epochs (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  seq INTEGER NOT NULL,                  -- the event's number in its run, over all tables
  epoch INTEGER NOT NULL,
  optimizer TEXT,
  loss REAL, test_loss REAL, error REAL, test_error REAL, rmse REAL, test_rmse REAL,
  gradient_norm REAL, step_norm REAL, radius REAL, rho REAL, rate REAL, accepted INTEGER NOT NULL,
  gradients REAL, products REAL, losses REAL, equivalents REAL, seconds REAL, elapsed REAL,
  rest TEXT,                             -- the event's other fields as JSON
  PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- Inner iterations of one solve that were recorded together, numbered from seq; the view iterations has one a row.
CREATE TABLE solves (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  block INTEGER NOT NULL,
  member INTEGER NOT NULL,
  steps TEXT NOT NULL,                   -- [[iteration, residual, step_norm, radius, curvature, model], …]
  PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

CREATE VIEW iterations AS
  SELECT run, seq + s.key AS seq, epoch, block, member, s.value ->> 0 AS iteration, s.value ->> 1 AS residual,
         s.value ->> 2 AS step_norm, s.value ->> 3 AS radius, s.value ->> 4 AS curvature, s.value ->> 5 AS model
  FROM solves, json_each(solves.steps) AS s;

CREATE TABLE spectra (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  json TEXT NOT NULL,                    -- the event
  epoch ANY GENERATED ALWAYS AS (json ->> '$.epoch') VIRTUAL,
  method ANY GENERATED ALWAYS AS (json ->> '$.method') VIRTUAL,
  operator ANY GENERATED ALWAYS AS (json ->> '$.operator') VIRTUAL,
  largest ANY GENERATED ALWAYS AS (json ->> '$.eigenvalues[0]') VIRTUAL,
  smallest ANY GENERATED ALWAYS AS (json ->> '$.eigenvalues[#-1]') VIRTUAL,
  PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- Every other event.
CREATE TABLE marks (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  json TEXT NOT NULL,                    -- the event
  type ANY GENERATED ALWAYS AS (json ->> '$.type') VIRTUAL,
  epoch ANY GENERATED ALWAYS AS (json ->> '$.epoch') VIRTUAL,
  PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- For each stretch of epochs the events that hold a figure's least and greatest value, so that a long run opens
-- quickly: [[least, seq, greatest, seq] of loss, test_loss, error, test_error].
CREATE TABLE peaks (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  first INTEGER NOT NULL,                -- events of the stretch's first and last epoch
  last INTEGER NOT NULL,
  extremes TEXT NOT NULL,
  PRIMARY KEY (run, first)
) STRICT, WITHOUT ROWID;

-- A checkpoint has its row here once all its parts are there.
CREATE TABLE checkpoints (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  seq INTEGER NOT NULL,                  -- the last event before it
  epoch INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  size INTEGER NOT NULL,                 -- bytes of all parts
  PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE parts (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  seq INTEGER NOT NULL,                  -- the checkpoint's
  part INTEGER NOT NULL,                 -- from 0
  data BLOB NOT NULL,
  PRIMARY KEY (run, seq, part)
) STRICT;

PRAGMA application_id=1852143476;
PRAGMA user_version=1;
INSERT INTO runs (run, id, name, begun, changed, opening, config, command, version, events, epochs, inner, bytes, first, last, best, done, generation, owner, host, process, identity, heartbeat, claimed) VALUES (1, '20261121-120000-a1b2c3', 'old', '2026-11-21T12:00:00.123Z', '2026-11-21T22:53:58.676Z', '{"type":"run","version":1,"id":"20261121-120000-a1b2c3","time":"2026-11-21T12:00:00.123456789Z","data":{"name":"letters","train_rows":10,"test_rows":0,"inputs":0,"outputs":0,"classes":0},"model":{"layers":[3,2],"parameters":8},"optimizer":"tr-newton","settings":{"exact":true,"path":"cg","radius":1.5},"seed":18446744073709551615}', '{"Data":"letters","DataDir":"","Target":"","Test":"","Hidden":null,"Graph":"","Skip":"none","Experts":0,"ExpertHidden":null,"Gate":"","GateTraining":"","Committee":0,"Act":"","Out":"","Loss":"","Init":"","Optimizer":"","Set":null,"Batch":0,"Blocks":0,"Epochs":3,"TimeLimit":0,"TargetLoss":0,"TargetError":0,"Seed":0,"Threads":0,"Spectrum":0,"SpectrumEvery":0,"SpectrumMethod":"","SpectrumOf":"","SpectrumRows":0,"Density":false,"SpectrumShare":0,"Save":"","Memory":0}', 'newtop train', '0.6', 199, 4, 180, 10443, 2, 185, 185, 199, 0, NULL, 'vm', 30326, '9bb68bbf-6731-419a-869e-9b12039fa26c pid:[4026531836] 1429920', '2026-11-21T22:53:58.676Z', 0);
INSERT INTO epochs (run, seq, epoch, optimizer, loss, test_loss, error, test_error, rmse, test_rmse, gradient_norm, step_norm, radius, rho, rate, accepted, gradients, products, losses, equivalents, seconds, elapsed, rest) VALUES (1, 2, 0, 'tr-newton', 3.0, 3.1, NULL, 1.5, NULL, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 1, 0.0, 0.0, 0.0, 0.0, 0.001, 0.0, '{"inner":[{"block":1,"iterations":7,"stop":"boundary","residual":0,"true_residual":0,"step_norm":0,"curvature":0,"ritz":[1,2],"flops":0}],"negative_zero":["rho"]}');
INSERT INTO epochs (run, seq, epoch, optimizer, loss, test_loss, error, test_error, rmse, test_rmse, gradient_norm, step_norm, radius, rho, rate, accepted, gradients, products, losses, equivalents, seconds, elapsed, rest) VALUES (1, 63, 1, 'tr-newton', 3.0, 3.1, NULL, 1.5, NULL, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0, 1.0, 0.0, 0.0, 0.0, 0.001, 0.001, '{"inner":[{"block":1,"iterations":7,"stop":"boundary","residual":0,"true_residual":0,"step_norm":0,"curvature":0,"ritz":[1,2],"flops":0}],"negative_zero":["rho"]}');
INSERT INTO epochs (run, seq, epoch, optimizer, loss, test_loss, error, test_error, rmse, test_rmse, gradient_norm, step_norm, radius, rho, rate, accepted, gradients, products, losses, equivalents, seconds, elapsed, rest) VALUES (1, 124, 2, 'tr-newton', 1.5, 1.6, NULL, 0.75, NULL, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 1, 2.0, 0.0, 0.0, 0.0, 0.001, 0.002, '{"inner":[{"block":1,"iterations":7,"stop":"boundary","residual":0,"true_residual":0,"step_norm":0,"curvature":0,"ritz":[1,2],"flops":0}],"negative_zero":["rho"]}');
INSERT INTO epochs (run, seq, epoch, optimizer, loss, test_loss, error, test_error, rmse, test_rmse, gradient_norm, step_norm, radius, rho, rate, accepted, gradients, products, losses, equivalents, seconds, elapsed, rest) VALUES (1, 185, 3, 'tr-newton', 1.0, 1.1, NULL, 0.5, NULL, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0, 3.0, 0.0, 0.0, 0.0, 0.001, 0.003, '{"inner":[{"block":1,"iterations":7,"stop":"boundary","residual":0,"true_residual":0,"step_norm":0,"curvature":0,"ritz":[1,2],"flops":0}],"negative_zero":["rho"]}');
INSERT INTO solves (run, seq, epoch, block, member, steps) VALUES (1, 3, 1, 0, 0, '[[1,1,0.3,null,-0,-1e-300],[2,0.5,0.3,null,-0,-1e-300],[3,0.3333333333333333,0.3,null,-0,-1e-300],[4,0.25,0.3,null,-0,-1e-300],[5,0.2,0.3,null,-0,-1e-300],[6,0.16666666666666666,0.3,null,-0,-1e-300],[7,0.14285714285714285,0.3,null,-0,-1e-300],[8,0.125,0.3,null,-0,-1e-300],[9,0.1111111111111111,0.3,null,-0,-1e-300],[10,0.1,0.3,null,-0,-1e-300],[11,0.09090909090909091,0.3,null,-0,-1e-300],[12,0.08333333333333333,0.3,null,-0,-1e-300],[13,0.07692307692307693,0.3,null,-0,-1e-300],[14,0.07142857142857142,0.3,null,-0,-1e-300],[15,0.06666666666666667,0.3,null,-0,-1e-300],[16,0.0625,0.3,null,-0,-1e-300],[17,0.058823529411764705,0.3,null,-0,-1e-300],[18,0.05555555555555555,0.3,null,-0,-1e-300],[19,0.05263157894736842,0.3,null,-0,-1e-300],[20,0.05,0.3,null,-0,-1e-300],[21,0.047619047619047616,0.3,null,-0,-1e-300],[22,0.045454545454545456,0.3,null,-0,-1e-300],[23,0.043478260869565216,0.3,null,-0,-1e-300],[24,0.041666666666666664,0.3,null,-0,-1e-300],[25,0.04,0.3,null,-0,-1e-300],[26,0.038461538461538464,0.3,null,-0,-1e-300],[27,0.037037037037037035,0.3,null,-0,-1e-300],[28,0.03571428571428571,0.3,null,-0,-1e-300],[29,0.034482758620689655,0.3,null,-0,-1e-300],[30,0.03333333333333333,0.3,null,-0,-1e-300]]');
INSERT INTO solves (run, seq, epoch, block, member, steps) VALUES (1, 33, 1, 1, 0, '[[1,1,0.3,null,-0,-1e-300],[2,0.5,0.3,null,-0,-1e-300],[3,0.3333333333333333,0.3,null,-0,-1e-300],[4,0.25,0.3,null,-0,-1e-300],[5,0.2,0.3,null,-0,-1e-300],[6,0.16666666666666666,0.3,null,-0,-1e-300],[7,0.14285714285714285,0.3,null,-0,-1e-300],[8,0.125,0.3,null,-0,-1e-300],[9,0.1111111111111111,0.3,null,-0,-1e-300],[10,0.1,0.3,null,-0,-1e-300],[11,0.09090909090909091,0.3,null,-0,-1e-300],[12,0.08333333333333333,0.3,null,-0,-1e-300],[13,0.07692307692307693,0.3,null,-0,-1e-300],[14,0.07142857142857142,0.3,null,-0,-1e-300],[15,0.06666666666666667,0.3,null,-0,-1e-300],[16,0.0625,0.3,null,-0,-1e-300],[17,0.058823529411764705,0.3,null,-0,-1e-300],[18,0.05555555555555555,0.3,null,-0,-1e-300],[19,0.05263157894736842,0.3,null,-0,-1e-300],[20,0.05,0.3,null,-0,-1e-300],[21,0.047619047619047616,0.3,null,-0,-1e-300],[22,0.045454545454545456,0.3,null,-0,-1e-300],[23,0.043478260869565216,0.3,null,-0,-1e-300],[24,0.041666666666666664,0.3,null,-0,-1e-300],[25,0.04,0.3,null,-0,-1e-300],[26,0.038461538461538464,0.3,null,-0,-1e-300],[27,0.037037037037037035,0.3,null,-0,-1e-300],[28,0.03571428571428571,0.3,null,-0,-1e-300],[29,0.034482758620689655,0.3,null,-0,-1e-300],[30,0.03333333333333333,0.3,null,-0,-1e-300]]');
INSERT INTO solves (run, seq, epoch, block, member, steps) VALUES (1, 64, 2, 0, 0, '[[1,1,0.3,null,-0,-1e-300],[2,0.5,0.3,null,-0,-1e-300],[3,0.3333333333333333,0.3,null,-0,-1e-300],[4,0.25,0.3,null,-0,-1e-300],[5,0.2,0.3,null,-0,-1e-300],[6,0.16666666666666666,0.3,null,-0,-1e-300],[7,0.14285714285714285,0.3,null,-0,-1e-300],[8,0.125,0.3,null,-0,-1e-300],[9,0.1111111111111111,0.3,null,-0,-1e-300],[10,0.1,0.3,null,-0,-1e-300],[11,0.09090909090909091,0.3,null,-0,-1e-300],[12,0.08333333333333333,0.3,null,-0,-1e-300],[13,0.07692307692307693,0.3,null,-0,-1e-300],[14,0.07142857142857142,0.3,null,-0,-1e-300],[15,0.06666666666666667,0.3,null,-0,-1e-300],[16,0.0625,0.3,null,-0,-1e-300],[17,0.058823529411764705,0.3,null,-0,-1e-300],[18,0.05555555555555555,0.3,null,-0,-1e-300],[19,0.05263157894736842,0.3,null,-0,-1e-300],[20,0.05,0.3,null,-0,-1e-300],[21,0.047619047619047616,0.3,null,-0,-1e-300],[22,0.045454545454545456,0.3,null,-0,-1e-300],[23,0.043478260869565216,0.3,null,-0,-1e-300],[24,0.041666666666666664,0.3,null,-0,-1e-300],[25,0.04,0.3,null,-0,-1e-300],[26,0.038461538461538464,0.3,null,-0,-1e-300],[27,0.037037037037037035,0.3,null,-0,-1e-300],[28,0.03571428571428571,0.3,null,-0,-1e-300],[29,0.034482758620689655,0.3,null,-0,-1e-300],[30,0.03333333333333333,0.3,null,-0,-1e-300]]');
INSERT INTO solves (run, seq, epoch, block, member, steps) VALUES (1, 94, 2, 1, 0, '[[1,1,0.3,null,-0,-1e-300],[2,0.5,0.3,null,-0,-1e-300],[3,0.3333333333333333,0.3,null,-0,-1e-300],[4,0.25,0.3,null,-0,-1e-300],[5,0.2,0.3,null,-0,-1e-300],[6,0.16666666666666666,0.3,null,-0,-1e-300],[7,0.14285714285714285,0.3,null,-0,-1e-300],[8,0.125,0.3,null,-0,-1e-300],[9,0.1111111111111111,0.3,null,-0,-1e-300],[10,0.1,0.3,null,-0,-1e-300],[11,0.09090909090909091,0.3,null,-0,-1e-300],[12,0.08333333333333333,0.3,null,-0,-1e-300],[13,0.07692307692307693,0.3,null,-0,-1e-300],[14,0.07142857142857142,0.3,null,-0,-1e-300],[15,0.06666666666666667,0.3,null,-0,-1e-300],[16,0.0625,0.3,null,-0,-1e-300],[17,0.058823529411764705,0.3,null,-0,-1e-300],[18,0.05555555555555555,0.3,null,-0,-1e-300],[19,0.05263157894736842,0.3,null,-0,-1e-300],[20,0.05,0.3,null,-0,-1e-300],[21,0.047619047619047616,0.3,null,-0,-1e-300],[22,0.045454545454545456,0.3,null,-0,-1e-300],[23,0.043478260869565216,0.3,null,-0,-1e-300],[24,0.041666666666666664,0.3,null,-0,-1e-300],[25,0.04,0.3,null,-0,-1e-300],[26,0.038461538461538464,0.3,null,-0,-1e-300],[27,0.037037037037037035,0.3,null,-0,-1e-300],[28,0.03571428571428571,0.3,null,-0,-1e-300],[29,0.034482758620689655,0.3,null,-0,-1e-300],[30,0.03333333333333333,0.3,null,-0,-1e-300]]');
INSERT INTO solves (run, seq, epoch, block, member, steps) VALUES (1, 125, 3, 0, 0, '[[1,1,0.3,null,-0,-1e-300],[2,0.5,0.3,null,-0,-1e-300],[3,0.3333333333333333,0.3,null,-0,-1e-300],[4,0.25,0.3,null,-0,-1e-300],[5,0.2,0.3,null,-0,-1e-300],[6,0.16666666666666666,0.3,null,-0,-1e-300],[7,0.14285714285714285,0.3,null,-0,-1e-300],[8,0.125,0.3,null,-0,-1e-300],[9,0.1111111111111111,0.3,null,-0,-1e-300],[10,0.1,0.3,null,-0,-1e-300],[11,0.09090909090909091,0.3,null,-0,-1e-300],[12,0.08333333333333333,0.3,null,-0,-1e-300],[13,0.07692307692307693,0.3,null,-0,-1e-300],[14,0.07142857142857142,0.3,null,-0,-1e-300],[15,0.06666666666666667,0.3,null,-0,-1e-300],[16,0.0625,0.3,null,-0,-1e-300],[17,0.058823529411764705,0.3,null,-0,-1e-300],[18,0.05555555555555555,0.3,null,-0,-1e-300],[19,0.05263157894736842,0.3,null,-0,-1e-300],[20,0.05,0.3,null,-0,-1e-300],[21,0.047619047619047616,0.3,null,-0,-1e-300],[22,0.045454545454545456,0.3,null,-0,-1e-300],[23,0.043478260869565216,0.3,null,-0,-1e-300],[24,0.041666666666666664,0.3,null,-0,-1e-300],[25,0.04,0.3,null,-0,-1e-300],[26,0.038461538461538464,0.3,null,-0,-1e-300],[27,0.037037037037037035,0.3,null,-0,-1e-300],[28,0.03571428571428571,0.3,null,-0,-1e-300],[29,0.034482758620689655,0.3,null,-0,-1e-300],[30,0.03333333333333333,0.3,null,-0,-1e-300]]');
INSERT INTO solves (run, seq, epoch, block, member, steps) VALUES (1, 155, 3, 1, 0, '[[1,1,0.3,null,-0,-1e-300],[2,0.5,0.3,null,-0,-1e-300],[3,0.3333333333333333,0.3,null,-0,-1e-300],[4,0.25,0.3,null,-0,-1e-300],[5,0.2,0.3,null,-0,-1e-300],[6,0.16666666666666666,0.3,null,-0,-1e-300],[7,0.14285714285714285,0.3,null,-0,-1e-300],[8,0.125,0.3,null,-0,-1e-300],[9,0.1111111111111111,0.3,null,-0,-1e-300],[10,0.1,0.3,null,-0,-1e-300],[11,0.09090909090909091,0.3,null,-0,-1e-300],[12,0.08333333333333333,0.3,null,-0,-1e-300],[13,0.07692307692307693,0.3,null,-0,-1e-300],[14,0.07142857142857142,0.3,null,-0,-1e-300],[15,0.06666666666666667,0.3,null,-0,-1e-300],[16,0.0625,0.3,null,-0,-1e-300],[17,0.058823529411764705,0.3,null,-0,-1e-300],[18,0.05555555555555555,0.3,null,-0,-1e-300],[19,0.05263157894736842,0.3,null,-0,-1e-300],[20,0.05,0.3,null,-0,-1e-300],[21,0.047619047619047616,0.3,null,-0,-1e-300],[22,0.045454545454545456,0.3,null,-0,-1e-300],[23,0.043478260869565216,0.3,null,-0,-1e-300],[24,0.041666666666666664,0.3,null,-0,-1e-300],[25,0.04,0.3,null,-0,-1e-300],[26,0.038461538461538464,0.3,null,-0,-1e-300],[27,0.037037037037037035,0.3,null,-0,-1e-300],[28,0.03571428571428571,0.3,null,-0,-1e-300],[29,0.034482758620689655,0.3,null,-0,-1e-300],[30,0.03333333333333333,0.3,null,-0,-1e-300]]');
INSERT INTO spectra (run, seq, json) VALUES (1, 186, '{"type":"spectrum","epoch":3,"method":"lanczos","operator":"","eigenvalues":[3,null,-1],"residuals":null,"rows":0,"products":0,"stop":"limit"}');
INSERT INTO marks (run, seq, json) VALUES (1, 187, '{"type":"switch","epoch":3,"from":"tr-newton","to":"adam"}');
INSERT INTO marks (run, seq, json) VALUES (1, 188, '{"type":"setting","epoch":3,"key":"radius","value":2.5}');
INSERT INTO marks (run, seq, json) VALUES (1, 189, '{"type":"setting","epoch":3,"key":"path","value":"dogleg"}');
INSERT INTO marks (run, seq, json) VALUES (1, 190, '{"type":"slice","epoch":3,"optimizer":"","at":[0,1],"loss":[0,-1],"gauss_newton":null,"quadratic":null,"step_norm":0,"rho":0,"accepted":false}');
INSERT INTO marks (run, seq, json) VALUES (1, 191, '{"type":"weights","epoch":3,"to":1,"from":0,"rows":0,"cols":0,"values":[1,null]}');
INSERT INTO marks (run, seq, json) VALUES (1, 192, '{"type":"errors","epoch":3,"classes":["a","b"],"confusion":[[1,2],[3,4]]}');
INSERT INTO marks (run, seq, json) VALUES (1, 193, '{"type":"rewind","epoch":3,"to":1}');
INSERT INTO marks (run, seq, json) VALUES (1, 194, '{"type":"race","epoch":1,"state":"begun","racers":[{"name":"x","optimizer":"adam"}],"picked":-1}');
INSERT INTO marks (run, seq, json) VALUES (1, 195, '{"type":"lap","racer":1,"lap":{"epoch":1,"optimizer":"tr-newton","loss":0.5,"test_loss":0.6,"error":null,"test_error":0.25,"rmse":null,"test_rmse":0,"gradient_norm":0,"step_norm":0,"radius":0.1,"rho":-0,"rate":0,"accepted":false,"inner":[{"block":1,"iterations":7,"stop":"boundary","residual":0,"true_residual":0,"step_norm":0,"curvature":0,"ritz":[1,2],"flops":0}],"gradients":1,"products":0,"losses":0,"gradient_equivalents":0,"seconds":0.001,"elapsed":0.001}}');
INSERT INTO marks (run, seq, json) VALUES (1, 196, '{"type":"resume","epoch":1,"time":"2026-11-21T12:00:01.000000005Z"}');
INSERT INTO marks (run, seq, json) VALUES (1, 197, '{"type":"saved","epoch":1,"file":"x.onnx","format":"onnx","bytes":12}');
INSERT INTO marks (run, seq, json) VALUES (1, 198, '{"type":"diverged","epoch":2,"reason":"why"}');
INSERT INTO marks (run, seq, json) VALUES (1, 199, '{"type":"done","reason":"diverged","epochs":3,"loss":null,"error":0,"test_error":0,"test_rmse":0,"best_test_error":0,"best_test_rmse":0,"best_epoch":2,"elapsed":0}');
INSERT INTO checkpoints (run, seq, epoch, fingerprint, size) VALUES (1, 199, 3, 'f', 10);
INSERT INTO parts (run, seq, part, data) VALUES (1, 199, 0, X'03030303030303030303');
