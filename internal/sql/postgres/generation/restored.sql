SELECT pawl.generation_restored()
