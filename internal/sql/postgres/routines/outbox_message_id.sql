-- A message id that carries its position: UUID version 8, see docs/layout.md.
CREATE OR REPLACE FUNCTION pawl.outbox_message_id(p_id bigint) RETURNS uuid LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
    || '8' || lpad(to_hex((random() * 4095)::integer), 3, '0')
    || to_hex(32768 + (random() * 16383)::integer)
    || lpad(to_hex(p_id), 12, '0'))::uuid;
END $f$;
