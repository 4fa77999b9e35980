SELECT pawl.columns(i) FROM pawl.outbox_item i WHERE i.id = @id
