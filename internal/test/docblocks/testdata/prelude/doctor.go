package prelude

var log *slog.Logger
