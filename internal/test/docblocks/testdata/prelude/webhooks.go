package prelude

func book(context.Context, *inbox.Message) error
