{{- /* A script and not JSON, because pages that are files may not fetch. */ -}}
{{- $all := slice }}
{{- range site.RegularPages | append site.Home }}
{{- $page := . }}
{{- $title := partial "title.html" . }}
{{- if .IsHome }}{{ $title = "What it is" }}{{ end }}
{{- $url := strings.TrimPrefix "/" .RelPermalink }}
{{- if .IsHome }}{{ $url = "index.html" }}{{ end }}
{{- $table := in (slice "docs/requirements.md" "docs/engine-contract.md") (partial "source.html" .) }}
{{- $n := 0 }}
{{- range split (replaceRE `<h([234]) id="` "\x01<h$1 id=\"" .Content) "\x01" }}
{{- if not (and $table $n) }}
{{- $id := "" }}{{ $heading := "" }}{{ $text := . }}
{{- if hasPrefix . "<h" }}{{ if $n }}
{{- $id = index (index (findRESubmatch `id="([^"]*)"` . 1) 0) 1 }}
{{- $heading = index (index (findRESubmatch `(?s)<h[234][^>]*>(.*?)( <a class="anchor".*?)?</h[234]>` . 1) 0) 1 | plainify | htmlUnescape }}
{{- end }}{{ $text = replaceRE `(?s)^<h[1-4].*?</h[1-4]>` "" . }}{{ end }}
{{- $text = replaceRE `\s+` " " (replaceRE `</(p|td|th|li|h[1-6]|pre)>` "$0 " $text | plainify | htmlUnescape) }}
{{- $all = $all | append (dict "u" (print $url (cond (eq $id "") "" (print "#" $id))) "p" $title "h" $heading "t" (strings.TrimSpace $text)) }}
{{- end }}{{ $n = add $n 1 }}
{{- end }}
{{- end -}}
window.pawlIndex = {{ $all | jsonify }};
window.pawlRules = {{ hugo.Data.search | jsonify }};
