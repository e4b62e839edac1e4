{{- define "gatehouse.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "gatehouse.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "gatehouse.labels" -}}
{{ include "gatehouse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "gatehouse.externalUrl" -}}
{{- if .Values.externalUrl -}}
{{- .Values.externalUrl -}}
{{- else if and .Values.ingress.enabled .Values.ingress.host .Values.ingress.tlsSecret -}}
{{- /* A wildcard is no host of a URL, and `env` may already set the variable. */ -}}
{{- if not (or (contains "*" .Values.ingress.host) (hasKey (.Values.env | default dict) "SERVICE_SERVER__EXTERNAL_URL")) -}}
{{- printf "https://%s" .Values.ingress.host -}}
{{- end -}}
{{- end -}}
{{- end -}}
