-- claim_variables()
-- What claim_regular needs in the routine's DECLARE, besides p_n, p_rows, p_from, p_to, p_wait, p_owner and p_lease.
v_now        timestamptz := clock_timestamp();
v_need       integer := p_n;
v_lanes      bigint[];
v_priorities smallint[];
v_runs       pawl.outbox_held[];
v_part       pawl.outbox_held[];
v_read       bigint := 0;
v_late       integer;
v_ranges     integer;
v_range      integer;
v_lane       integer;
v_low        timestamptz;
v_counts     boolean;
v_take       integer;
v_tids       tid[];
v_sizes      integer[];
v_rows       integer;
v_got        integer;
