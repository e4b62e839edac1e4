// The gateway's presets for keys and devices: the scopes and call limits for common purposes.
import type { Shape } from '../../../client/http';
import { m } from '../../../paraglide/messages.js';
import type { Scope } from './scopes';

export type Preset = Shape<'KeyPreset'>;

const LABELS: Record<string, () => string> = {
  voice: m.security_preset_voice,
  chat: m.security_preset_chat,
  ingest: m.security_preset_webhooks,
  metrics: m.security_preset_metrics,
};

export const presetLabel = ({ id }: Preset): string => LABELS[id]?.() ?? id;

/** The presets for devices. Path patterns are removed, because devices only call methods on the socket. */
export const forDevices = (presets: readonly Preset[]): Preset[] =>
  presets
    .map((preset) => ({ ...preset, only: preset.only.filter((pattern) => !pattern.startsWith('/')) }))
    .filter(({ only }) => only.length > 0);

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one) => b.includes(one));

/** The preset with exactly these scopes and limits. */
export const presetOf = (presets: readonly Preset[], scopes: readonly Scope[], only: readonly string[]) =>
  presets.find((preset) => same(preset.only, only) && same(preset.scopes, scopes));
