{{- define "pawl.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{/* What selects pods of a part: list $ "worker". */}}
{{- define "pawl.selector" -}}
app.kubernetes.io/name: pawl
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "pawl.labels" -}}
{{ include "pawl.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ (index . 0).Chart.Name }}-{{ (index . 0).Chart.Version }}
{{- end }}

{{- define "pawl.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "pawl.name" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end }}

{{/* What all pods have. */}}
{{- define "pawl.pod" -}}
automountServiceAccountToken: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{/* What all containers have. */}}
{{- define "pawl.container" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities: {drop: [ALL]}
{{- end }}

{{/* The database: list $ "name of the Secret". */}}
{{- define "pawl.database" -}}
- name: PAWL_DB
  valueFrom:
    secretKeyRef:
      name: {{ index . 1 | required "database.existingSecret is required: the Secret with the database's URL" | quote }}
      key: {{ (index . 0).Values.database.key | quote }}
- name: PAWL_SCHEMA
  value: {{ (index . 0).Values.database.schema | quote }}
{{- end }}
