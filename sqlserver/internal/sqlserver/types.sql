-- What lists with payloads are passed as. The server lets nothing use a type before the transaction
-- that made it is over, so these are made, where they are missing, in one before that of the
-- migrations. One that has to change gets another name.

-- What a batch of messages is passed as; due is in microseconds since 1970.
IF TYPE_ID(N'pawl.outbox_message_list') IS NULL
CREATE TYPE pawl.outbox_message_list AS TABLE (
  id             bigint NOT NULL PRIMARY KEY,
  message_id     uniqueidentifier NOT NULL,
  topic          nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  correlation_id nvarchar(510) COLLATE Latin1_General_100_BIN2,
  headers        nvarchar(max) COLLATE Latin1_General_100_BIN2,
  payload        varbinary(max) NOT NULL,
  lane           bigint NOT NULL,
  due            bigint,
  supplied       bit NOT NULL,
  carried        bigint NOT NULL
);

-- What a batch of timers is passed as; due is in microseconds since 1970.
IF TYPE_ID(N'pawl.timer_list') IS NULL
CREATE TYPE pawl.timer_list AS TABLE (
  id             bigint NOT NULL PRIMARY KEY,
  timer_id       uniqueidentifier NOT NULL,
  topic          nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  correlation_id nvarchar(510) COLLATE Latin1_General_100_BIN2,
  headers        nvarchar(max) COLLATE Latin1_General_100_BIN2,
  payload        varbinary(max) NOT NULL,
  lane           bigint NOT NULL,
  due            bigint,
  supplied       bit NOT NULL,
  carried        bigint NOT NULL,
  "key"          nvarchar(510) COLLATE Latin1_General_100_BIN2
);

-- The results of several steps, as they are sent.
IF TYPE_ID(N'pawl.outbox_result_list') IS NULL
CREATE TYPE pawl.outbox_result_list AS TABLE (
  owner  uniqueidentifier NOT NULL,
  id     bigint NOT NULL,
  result varbinary(max) NOT NULL
);

-- Steps of several flows, as they are sent.
IF TYPE_ID(N'pawl.flow_step_list') IS NULL
CREATE TYPE pawl.flow_step_list AS TABLE (
  owner  uniqueidentifier NOT NULL,
  id     bigint NOT NULL,
  name   nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL,
  kind   int NOT NULL,
  nr     int NOT NULL,
  retry  int NOT NULL,
  signal int NOT NULL,
  result varbinary(max) NOT NULL
);
