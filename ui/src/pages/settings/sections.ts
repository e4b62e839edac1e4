// The sections of the settings.
import Bell from '@lucide/svelte/icons/bell';
import Brain from '@lucide/svelte/icons/brain';
import ChartColumn from '@lucide/svelte/icons/chart-column';
import Info from '@lucide/svelte/icons/info';
import Plug from '@lucide/svelte/icons/plug';
import Mic from '@lucide/svelte/icons/mic';
import ShieldCheck from '@lucide/svelte/icons/shield-check';
import { m } from '../../paraglide/messages.js';
import type { PageComponent } from '../../shell/routes';
import type { LucideIcon } from '../../parts/icon';

export interface Section {
  path: string;
  label: () => string;
  about: () => string;
  icon: LucideIcon;
  load: () => Promise<{ default: PageComponent }>;
  /** Only in gateways built with voice support. */
  voice?: true;
}

export const SECTIONS: readonly Section[] = [
  {
    path: 'security',
    label: m.settings_security,
    about: m.security_intro,
    icon: ShieldCheck,
    load: () => import('./security/Security.svelte'),
  },
  {
    path: 'providers',
    label: m.settings_providers,
    about: m.providers_intro,
    icon: Brain,
    load: () => import('./providers/Providers.svelte'),
  },
  {
    path: 'voice',
    label: m.settings_voice,
    about: m.voice_intro,
    icon: Mic,
    load: () => import('./voice/Voice.svelte'),
    voice: true,
  },
  {
    path: 'usage',
    label: m.settings_usage,
    about: m.usage_intro,
    icon: ChartColumn,
    load: () => import('./usage/Usage.svelte'),
  },
  {
    path: 'notifications',
    label: m.settings_notifications,
    about: m.notifications_intro,
    icon: Bell,
    load: () => import('./notifications/Notifications.svelte'),
  },
  { path: 'mcp', label: m.settings_mcp, about: m.mcp_intro, icon: Plug, load: () => import('./mcp/Mcp.svelte') },
  {
    path: 'system',
    label: m.settings_system,
    about: m.about_intro,
    icon: Info,
    load: () => import('./system/System.svelte'),
  },
];
