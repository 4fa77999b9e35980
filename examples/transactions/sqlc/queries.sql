-- name: Balance :one
SELECT balance FROM accounts WHERE id = $1;

-- name: ChangeBalance :exec
UPDATE accounts SET balance = balance + $1 WHERE id = $2;
