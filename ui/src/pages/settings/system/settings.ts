// Formats and parses setting values.
import type { Setting, SettingKind } from '../../../client/generated/rpc';
import { m } from '../../../paraglide/messages.js';

export type Kind = 'flag' | 'number' | 'list' | 'text' | 'object';

/** The type of a value, derived from the value itself; unset values count as text. */
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

/** The type in the gateway's description; text until it is loaded. */
export const kindDescribed = (kind: SettingKind | undefined): Kind => (kind ? DESCRIBED[kind] : 'text');

/** A value as editable text; lists have one entry per line. */
export function typed(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.join('\n');
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
}

/** Parses typed text. Invalid input is passed on as text, so that the gateway reports what it expects. */
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

/** A value on one line. */
export function shown({ value }: Setting): string {
  const known: unknown = value;
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
