// What the sidebar asks about the recording of all reports: its state, that it begins or ends, and its file.
import type { Request } from 'express';
import { invalidInput, isObject, type Session } from '../../src/index.ts';
import type { ServedFile } from '../shared/runtime/admin.ts';

/** `GET …/record`: the state; a recording goes on only as long as somebody asks for it. */
export function showRecord(session: Session): object {
  return session.allReports.recordState();
}

/** `POST …/record`: `{action: start|stop}`; what has begun already goes on. @returns the state */
export function controlRecord(session: Session, { body }: Request): object {
  const { action } = isObject(body) ? body : {};
  if (action !== 'start' && action !== 'stop') {
    throw invalidInput('action', action, action === undefined ? 'missing' : 'notChoice');
  }
  session.allReports.recording[action]();
  return session.allReports.recordState();
}

/** `GET …/record/file`: the reports that were kept, one JSON object a line. */
export function fetchRecord(session: Session): ServedFile | undefined {
  const pieces = session.allReports.recording.file();
  const { since } = session.allReports.recordState();
  return (
    pieces && {
      type: 'application/x-ndjson; charset=utf-8',
      name: `reports-${String(since).slice(0, 19).replaceAll(':', '-')}.jsonl`,
      pieces,
    }
  );
}
