{{- define "promenade.name" -}}
{{- $name := .Release.Name -}}
{{- if not (contains .Chart.Name $name) -}}{{- $name = printf "%s-%s" $name .Chart.Name -}}{{- end -}}
{{- $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "promenade.own" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "promenade.labels" -}}
{{ include "promenade.own" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- /* What must be given, and cannot be guessed. */ -}}
{{- define "promenade.check" -}}
{{- $missing := list -}}
{{- if not .Values.image.repository -}}{{- $missing = append $missing "image.repository: the image that deploy/Containerfile builds" -}}{{- end -}}
{{- if not .Values.publicUrl -}}{{- $missing = append $missing "publicUrl: how clients reach the service" -}}{{- end -}}
{{- if not .Values.secrets.servingDatabaseUrl.name -}}{{- $missing = append $missing "secrets.servingDatabaseUrl.name: an existing Secret with the database address of the serving role" -}}{{- end -}}
{{- if not .Values.secrets.metricsToken.name -}}{{- $missing = append $missing "secrets.metricsToken.name: an existing Secret with the token for /metrics" -}}{{- end -}}
{{- if and (or .Values.upgrade.enabled .Values.partitions.enabled) (not .Values.secrets.ownerDatabaseUrl.name) -}}{{- $missing = append $missing "secrets.ownerDatabaseUrl.name: an existing Secret with the database address of the owner of the tables" -}}{{- end -}}
{{- if .Values.network.enabled -}}
{{- if not .Values.network.clients -}}{{- $missing = append $missing "network.clients: from where requests come, or nobody gets in" -}}{{- end -}}
{{- if not .Values.network.database.to -}}{{- $missing = append $missing "network.database.to: where the database is" -}}{{- end -}}
{{- if and .Values.secrets.redisUrl.name (not .Values.network.cache.to) -}}{{- $missing = append $missing "network.cache.to: where the cache is" -}}{{- end -}}
{{- if and .Values.serviceMonitor.enabled (not .Values.network.monitoring) -}}{{- $missing = append $missing "network.monitoring: from where metrics are read" -}}{{- end -}}
{{- end -}}
{{- if $missing -}}{{- fail (printf "\n\npromenade needs:\n  %s\n" (join "\n  " $missing)) -}}{{- end -}}
{{- if gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas) -}}{{- fail "autoscaling.minReplicas is above autoscaling.maxReplicas" -}}{{- end -}}
{{- end -}}

{{- define "promenade.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- /* What each pod has: of the image's user, without rights, and without variables that are called like options. */ -}}
{{- define "promenade.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false # a Service called promenade would set PROMENADE_PORT
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "promenade.container" -}}
image: {{ include "promenade.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}

{{- /* Variables that name the files of secrets: a list of [option, key of .Values.secrets]. */ -}}
{{- define "promenade.secretVariables" -}}
{{- $values := .root.Values -}}
{{- range .secrets }}
{{- if (index $values.secrets (last .)).name }}
- name: PROMENADE_{{ first . }}_FILE
  value: /run/secrets/promenade/{{ last . }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "promenade.mounts" -}}
- {name: tmp, mountPath: /tmp}
- {name: secrets, mountPath: /run/secrets/promenade, readOnly: true}
{{- end -}}

{{- define "promenade.volumes" -}}
{{- $values := .root.Values -}}
- name: tmp
  emptyDir: {sizeLimit: 512Mi}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      {{- range .secrets }}
      {{- $secret := index $values.secrets (last .) }}
      {{- if $secret.name }}
      - secret:
          name: {{ $secret.name }}
          items:
            - {key: {{ $secret.key | quote }}, path: {{ last . }}}
      {{- end }}
      {{- end }}
{{- end -}}

{{- /* Options as variables: .given over .common. Lists are separated by spaces. */ -}}
{{- define "promenade.options" -}}
{{- range $name, $value := merge (dict) .given .common }}
- name: PROMENADE_{{ $name | upper | replace "-" "_" }}
  value: {{ if kindIs "slice" $value }}{{ join " " $value | quote }}{{ else if and (kindIs "float64" $value) (eq (floor $value) $value) }}{{ int64 $value | quote }}{{ else }}{{ $value | quote }}{{ end }}
{{- end }}
{{- end -}}

{{- define "promenade.placement" -}}
topologySpreadConstraints:
  {{- range $key, $when := dict "topology.kubernetes.io/zone" .root.Values.spread.zones "kubernetes.io/hostname" .root.Values.spread.nodes }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: {{ $when }}
    labelSelector:
      matchLabels:
        {{- include "promenade.own" $.root | nindent 8 }}
        app.kubernetes.io/component: {{ $.component }}
  {{- end }}
{{- with .values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
