// Formats and parses setting values.
import type { Setting, SettingDescription, SettingKind } from '../../../client/generated/rpc';
import { m } from '../../../paraglide/messages.js';
import { number } from '../../../parts/time';

export type Kind = 'flag' | 'number' | 'list' | 'text' | 'object';

/** Returns the type of a value, derived from the value itself. Unset values count as text. */
export function kindOf(value: unknown): Kind {
  if (typeof value === 'boolean') return 'flag';
  if (typeof value === 'number') return 'number';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'object' && value !== null) return 'object';
  return 'text';
}

const DESCRIBED: Record<SettingKind, Kind> = {
  flag: 'flag',
  whole: 'number',
  number: 'number',
  text: 'text',
  list: 'list',
  variables: 'object',
  headers: 'object',
  models: 'object',
};

/** Returns the type in the gateway's description, or text until the description is loaded. */
export const kindDescribed = (kind: SettingKind | undefined): Kind => (kind ? DESCRIBED[kind] : 'text');

/** A value as editable text; lists have one entry per line. */
export function typed(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.join('\n');
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
}

/**
 * Parses typed text. Invalid input is sent as text, because the gateway then reports the expected
 * format.
 */
export function parse(text: string, kind: Kind): unknown {
  switch (kind) {
    case 'flag':
      return text === 'true';
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
    case 'list':
      return text
        .split('\n')
        .map((line) => line.trim())
        .filter(Boolean);
    case 'object':
      try {
        return JSON.parse(text) as unknown;
      } catch {
        return text;
      }
    case 'text':
      return text;
  }
}

const UNITS: [RegExp, () => string][] = [
  [/_ms$/, m.about_unit_ms],
  [/_seconds$/, m.about_unit_seconds],
  [/_minutes$/, m.about_unit_minutes],
  [/_hours$/, m.about_unit_hours],
  [/_days$/, m.about_unit_days],
  [/_kib$/, m.about_unit_kib],
  [/_mib$/, m.about_unit_mib],
  [/_bytes$/, m.about_unit_bytes],
  [/_percent$/, m.about_unit_percent],
  [/_per_minute$/, m.about_unit_per_minute],
  [/_chars$/, m.about_unit_chars],
];

/** The unit in the name of a setting; empty if it has none. */
export const unitOf = (key: string): string => UNITS.find(([pattern]) => pattern.test(key))?.[1]() ?? '';

/** Returns a size in the largest unit that gives a whole number, such as " (36 MiB)"; empty if that unit is bytes. */
function inLargerUnit(bytes: number): string {
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let [size, at] = [bytes, -1];
  while (size >= 1024 && size % 1024 === 0 && at < units.length - 1) [size, at] = [size / 1024, at + 1];
  return at < 0 ? '' : ` (${number(size)} ${units[at]})`;
}

/** A number of a setting with its unit. */
function amountOf(key: string, value: number): string {
  const amount = [number(value), unitOf(key)].filter(Boolean).join(' ');
  return key.endsWith('_bytes') ? amount + inLargerUnit(value) : amount;
}

/** The accepted values of a setting and its default, in words. */
export function limitsOf(described: SettingDescription): string[] {
  const { key, min, max, one_of, kind } = described;
  const unit = unitOf(key);
  const amount = (value: number) => amountOf(key, value);
  const range =
    min != null && max != null
      ? m.about_setting_range({ min: number(min), max: amount(max) })
      : min != null
        ? m.about_setting_min({ min: amount(min) })
        : max != null
          ? m.about_setting_max({ max: amount(max) })
          : '';
  const usual: unknown = described.default;
  const isNumber = typeof usual === 'number';
  const text = isNumber ? amount(usual) : shownValue(usual);
  return [
    range || (unit && (kind === 'whole' || kind === 'number') ? m.about_setting_unit({ unit }) : ''),
    one_of && one_of.length > 0 ? m.about_setting_one_of({ values: one_of.join(', ') }) : '',
    text === '' ? '' : m.about_setting_default({ value: text }),
  ].filter(Boolean);
}

/** Returns a value with the unit of its setting, on one line. */
export function withUnit(setting: Setting): string {
  const { key, value } = setting;
  return typeof value === 'number' ? amountOf(key, value) : shown(setting);
}

const GROUPS: Readonly<Record<string, () => string>> = {
  agents: m.settings_agents,
  approvals: m.about_group_approvals,
  audit: m.audit_title,
  auth: m.about_group_auth,
  backup: m.backups,
  database: m.about_database,
  log: m.about_group_log,
  mcp: m.settings_mcp,
  metrics: m.about_group_metrics,
  models: m.about_group_models,
  network: m.about_group_network,
  notify: m.settings_notifications,
  proxy: m.about_group_proxy,
  server: m.about_group_server,
  telemetry: m.about_group_telemetry,
  tools: m.about_group_tools,
  vault: m.settings_vault,
  voice: m.settings_voice,
  webhooks: m.settings_webhooks,
};

/** The heading of the settings that begin with `name`. */
export const groupLabel = (name: string): string => (Object.hasOwn(GROUPS, name) ? GROUPS[name]?.() : null) ?? name;

/** A value on one line. */
export const shown = ({ value }: Setting): string => shownValue(value);

function shownValue(known: unknown): string {
  if (typeof known === 'boolean') return known ? m.about_setting_on() : m.about_setting_off();
  if (Array.isArray(known)) return known.join(', ');
  return typed(known);
}

/** The name of a value's origin. */
export function originOf({ origin }: Setting): string {
  const names: Record<string, () => string> = {
    command_line: m.about_origin_command_line,
    environment: m.about_origin_environment,
    settings: m.about_origin_settings,
    toml: m.about_origin_toml,
    default: m.about_origin_default,
  };
  return names[origin]?.() ?? origin;
}
