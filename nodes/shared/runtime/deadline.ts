// Waits for work only as long as somebody else would wait for it.

/**
 * @param late called when the work takes longer; the work goes on, and how it ends is nobody's business then
 * @returns what the work brings, or what `late` returns
 */
export async function withinDeadline<Result, Late>(
  work: Result | Promise<Result>,
  ms: number,
  late: () => Late,
): Promise<Result | Late> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<Late>((resolve) => {
    timer = setTimeout(() => resolve(late()), ms);
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
  }
}
