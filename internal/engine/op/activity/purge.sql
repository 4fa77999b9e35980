DELETE FROM pawl.activity WHERE grain = @grain AND minute < @before
