"""``$batch``, in multipart and in JSON: `run.run_batch`."""
