package prelude

var control *sql.DB

func mail(tenant string, o Order) error
