-- The id of the message by which a message of the inbox is queued, the same for every delivery. Its
-- version is that of ids made from names: in version 8 pawl reads a position. Go's inbox.messageID.
CREATE OR REPLACE FUNCTION pawl.inbox_message_id(p_source text, p_message text) RETURNS uuid LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v bytea := substring(sha256(decode(repeat('00', 16), 'hex') || convert_to('pawl/inbox/' || octet_length(convert_to(p_source, 'UTF8')) || '/' || p_source || p_message, 'UTF8')) FROM 1 FOR 16);
BEGIN
  v := set_byte(set_byte(v, 6, get_byte(v, 6) & 15 | 80), 8, get_byte(v, 8) & 63 | 128);
  RETURN encode(v, 'hex')::uuid;
END $f$;
