package interleave

import (
	"regexp"
	"strings"
	"testing"
)

// D-276: sessions can be stopped before every statement that names a table, wherever it stands,
// and nowhere else.
func TestInsertPauses(t *testing.T) {
	const body = `
#variable_conflict use_column
DECLARE
  v text := 'BEGIN; s.a';
BEGIN -- s.a ;
  IF v IS NULL THEN
    PERFORM f('x', (SELECT 1));
  ELSIF v = 'x' THEN
    /**/ DELETE FROM s.a WHERE CASE WHEN x THEN true ELSE false END;
  ELSE
    x := 1;
  END IF;
  IF EXISTS (SELECT FROM s.b) THEN
    RETURN;
  END IF;
  FOR r IN SELECT * FROM s.a x LOOP
    LOOP
      BEGIN
        UPDATE s.b SET c = 'it''s; s.a'; GET DIAGNOSTICS n = ROW_COUNT;
        EXIT;
      EXCEPTION WHEN unique_violation THEN
        INSERT INTO s.a VALUES (1);
      END;
    END LOOP;
  END LOOP;
  CASE n WHEN 1 THEN RETURN; ELSE
    RETURN QUERY SELECT * FROM s.b;
  END CASE;
  PERFORM s.a(1);
END `
	got, n := insertPauses(body, "s", "r", regexp.MustCompile(`\bs\.(a|b)\b[^(]`))
	marked := regexp.MustCompile(` IF s\.interleave_pause\('r/(\d)'\) THEN END IF; `).ReplaceAllString(got, "<$1>")
	if strings.NewReplacer("<1>", "", "<2>", "", "<3>", "", "<4>", "", "<5>", "", "<6>", "").Replace(marked) != body {
		t.Errorf("something else changed:\n%s", marked)
	}
	for _, want := range []string{"<1>/**/ DELETE", "<2>IF EXISTS", "<3>FOR r", "<4>UPDATE", "<5>INSERT", "<6>RETURN QUERY"} {
		if !strings.Contains(marked, want) || n != 6 {
			t.Errorf("%d pauses, want 6 and %s:\n%s", n, want, marked)
		}
	}
}
