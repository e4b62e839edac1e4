// One-line descriptions of the channel types; empty for unknown types.
import { m } from '../../paraglide/messages.js';

const LINES: Record<string, () => string> = {
  discord: m.channels_about_discord,
  email: m.channels_about_email,
  http: m.channels_about_http,
  inbox: m.channels_about_inbox,
  log: m.channels_about_log,
  matrix: m.channels_about_matrix,
  ntfy: m.channels_about_ntfy,
  slack: m.channels_about_slack,
  telegram: m.channels_about_telegram,
};

export const about = (type: string): string => LINES[type]?.() ?? '';
