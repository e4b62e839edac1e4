// Revoked API keys and devices. Their labels are in the events of the audit log.
import type { AuditEvent } from '../../../client/generated/rpc';
import { LIST_LIMIT_MAX } from '../../../client/generated/limits';
import { rpc } from '../../../client/rpc';

/** The labels in the events by the ID of the key or device. */
export function labelsIn(events: readonly Pick<AuditEvent, 'detail'>[]): Map<string, string> {
  return new Map(
    events.flatMap(({ detail }): [string, string][] => {
      const { api_key, device, label } = (detail ?? {}) as Record<string, unknown>;
      const id = api_key ?? device;
      return typeof id === 'string' && typeof label === 'string' ? [[id, label]] : [];
    }),
  );
}

/** The labels of the last revoked keys and devices, by ID. */
export async function revokedLabels(): Promise<Map<string, string>> {
  const kinds = ['api_key.revoked', 'device.revoked'];
  const lists = await Promise.all(kinds.map((kind) => rpc('audit.list', { kind, limit: LIST_LIMIT_MAX })));
  return labelsIn(lists.flatMap(({ events }) => events));
}
