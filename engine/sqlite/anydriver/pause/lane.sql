-- Where messages of topic ?2 are laid aside, if it is paused. ?1 now.
SELECT lane FROM pawl.outbox_pause WHERE kind = 'topic' AND name = ?2 AND NOT ending
