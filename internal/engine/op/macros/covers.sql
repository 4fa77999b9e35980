-- covers(table, run, id)
{run}.lo = (SELECT max(x.lo) FROM {table} x WHERE x.lo <= {id}) AND {run}.lo + {run}.n > {id}
