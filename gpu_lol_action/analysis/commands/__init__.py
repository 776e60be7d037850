"""Find what people and machines are told to start: in documents, scripts, images, and the files of schedulers and clouds."""
